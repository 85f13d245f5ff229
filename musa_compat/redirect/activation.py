"""On and off: activations are counted, and what the last one needed is taken back when it ends."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from musa_compat.redirect import options as opts
from musa_compat.redirect import presence
from musa_compat.redirect.options import Options


@dataclass(frozen=True, eq=False)
class Activation:
    """One call of `activate`: what `deactivate` can end."""

    groups: tuple[str, ...]
    options: Options


_lock = threading.RLock()
_activations: list[Activation] = []


def activate(
    groups: Iterable[str] | str | None = None,
    *,
    cuda_is_available: bool | None = None,
    cuda_version: str | None = None,
) -> Activation:
    """Redirect CUDA spellings to MUSA, in this process, from now on.

    groups: some of `musa_compat.redirect.GROUPS`, by default all (or `MUSA_COMPAT_REDIRECT_GROUPS`).
    cuda_is_available: what `torch.cuda.is_available()` says; True by default (or `MUSA_COMPAT_CUDA_IS_AVAILABLE`),
    since most CUDA programs fall back to the CPU without a word when it is false. False leaves it as it is.
    cuda_version: `torch.version.cuda`; None by default (or `MUSA_COMPAT_CUDA_VERSION`), by which frameworks see that
    this is not CUDA.

    Calls are counted: the second one adds the groups that are not on yet, and it takes as many calls of `deactivate`.
    Device arguments are translated in this thread, in threads that start from now on, and in pools of threads.

    Raises NoDeviceError without a MUSA device, ValueError for groups and options, RuntimeError when the redirect runs
    with other options.
    """
    chosen = opts.groups(groups)
    given = (cuda_is_available, cuda_version) != (None, None)
    wanted = opts.options(cuda_is_available, cuda_version)
    presence.require()
    with _lock:
        if _activations:
            running = _activations[0].options
            if given and wanted != running:
                raise RuntimeError(
                    f"the redirect runs with {running} and cannot change to {wanted}; deactivate it first"
                )
            wanted = running
        activation = Activation(chosen, wanted)
        _activations.append(activation)
        _bring()
    return activation


def deactivate(activation: Activation | None = None) -> bool:
    """End an activation, the latest one unless given. The last one puts every name back.

    Returns whether there was one to end.
    """
    with _lock:
        if not _activations or (activation is not None and activation not in _activations):
            return False
        _activations.remove(activation or _activations[-1])
        _bring()
    return True


@contextmanager
def activated(
    groups: Iterable[str] | str | None = None,
    *,
    cuda_is_available: bool | None = None,
    cuda_version: str | None = None,
) -> Iterator[Activation]:
    """`activate` for a block. Blocks may be nested, and may end in any order."""
    activation = activate(groups, cuda_is_available=cuda_is_available, cuda_version=cuda_version)
    try:
        yield activation
    finally:
        deactivate(activation)


def is_active(group: str | None = None) -> bool:
    """Whether the redirect, or one group of it, is on."""
    return bool(_activations) if group is None else group in active_groups()


def active_groups() -> tuple[str, ...]:
    """The groups that are on."""
    counts = Counter(group for activation in _activations for group in activation.groups)
    return tuple(group for group in opts.GROUPS if counts[group])


def current_options() -> Options:
    """The options of the running redirect, or the defaults."""
    return _activations[0].options if _activations else Options()


def _bring() -> None:
    from musa_compat.redirect import engine

    engine.bring(active_groups())
