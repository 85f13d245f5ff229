"""One patched name: what was there, what we put there, and how it goes back."""

from __future__ import annotations

import sys
from typing import Any

from musa_compat.redirect import peer
from musa_compat.redirect.registry import MISSING, Keep, Patch


class Slot:
    """The place of a patch. `state` is off, applied, waiting, skipped or left; `why` says why."""

    def __init__(self, patch: Patch) -> None:
        self.patch = patch
        self.state, self.why = "off", ""
        self._holder: Any = None
        self._original: Any = MISSING
        self._ours: Any = None

    def apply(self) -> None:
        """Replace the name, or say why not."""
        import torch

        patch = self.patch
        if unfit := patch.unfit(torch.__version__):
            return self._set("skipped", unfit)
        if patch.module not in sys.modules:
            return self._set("waiting", f"{patch.module} is not imported yet")
        holder = self._find_holder()
        if holder is MISSING:
            return self._set("skipped", "not in this torch")
        name = patch.path[-1]
        original = vars(holder).get(name, MISSING)
        found = getattr(holder, name, MISSING) if original is MISSING else original
        if found is MISSING and not patch.create:
            return self._set("skipped", "not in this torch")
        if peer.owns(holder) or peer.owns(found):
            return self._set("skipped", f"patched by {peer.NAME}, which was imported first")
        replacement = patch.make(found)
        if isinstance(replacement, Keep):
            return self._set("skipped", replacement.why)
        setattr(holder, name, replacement)
        self._holder, self._original, self._ours = holder, original, vars(holder)[name]
        return self._set("applied", "")

    def undo(self) -> None:
        """Put the original back, unless somebody else has replaced ours."""
        if self.state != "applied":
            return self._set("off", "")
        name = self.patch.path[-1]
        if vars(self._holder).get(name, MISSING) is not self._ours:
            return self._set(*self.seen())
        if self._original is MISSING:
            delattr(self._holder, name)
        else:
            setattr(self._holder, name, self._original)
        self._holder, self._original, self._ours = None, MISSING, None
        return self._set("off", "")

    @property
    def replaced(self) -> Any:
        """The original while the patch is applied, else MISSING."""
        return self._original if self.state == "applied" else MISSING

    def seen(self) -> tuple[str, str]:
        """State and reason as they are now: somebody may have replaced ours."""
        if self.state == "applied" and vars(self._holder).get(self.patch.path[-1], MISSING) is not self._ours:
            return "left", "somebody replaced our patch after activation; theirs is left in place"
        return self.state, self.why

    def _find_holder(self) -> Any:
        holder: Any = sys.modules[self.patch.module]
        for name in self.patch.path[:-1]:
            holder = getattr(holder, name, MISSING)
            if holder is MISSING:
                break
        return holder

    def _set(self, state: str, why: str) -> None:
        self.state, self.why = state, why
