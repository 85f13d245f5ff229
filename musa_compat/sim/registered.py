"""What an installed torch_musa registers with PyTorch's dispatcher."""

from __future__ import annotations

from collections.abc import Iterator

_KEYS = ("PrivateUse1", "AutogradPrivateUse1")


def registered() -> Iterator[str]:
    """Lines: a comment with the versions, then the names of operators, sorted.

    Raises ImportError without torch_musa, RuntimeError for the simulated one.
    """
    import torch
    import torch_musa  # type: ignore[import-not-found]

    if getattr(torch_musa, "__simulated__", False):
        raise RuntimeError("the loaded torch_musa is the simulated one, which has no operators of its own")
    yield f"# torch_musa {torch_musa.__version__}, torch {torch.__version__}"
    names = {name for key in _KEYS for name in torch._C._dispatch_get_registrations_for_dispatch_key(key)}
    yield from sorted(name for name in names if name.startswith("aten::"))
