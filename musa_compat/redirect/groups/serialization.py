"""`torch.load(map_location="cuda")`, and files that were saved on a CUDA device."""

from __future__ import annotations

from functools import wraps
from typing import Any

from musa_compat.redirect.devices import is_musa, to_cuda, to_musa
from musa_compat.redirect.registry import patch
from musa_compat.redirect.wrapping import arguments

patch("serialization", "torch.serialization:default_restore_location", reason="the tag cuda:0 of a storage in a file")(
    arguments()
)
patch("serialization", "torch.jit._serialization:validate_map_location", reason='torch.jit.load(map_location="cuda")')(
    arguments()
)


@patch("serialization", "torch.serialization:_get_restore_location", reason='torch.load(map_location="cuda")')
def _restore_location(original: Any) -> Any:
    @wraps(original)
    def _get_restore_location(map_location: Any) -> Any:
        if isinstance(map_location, dict):
            return original(_both_spellings(map_location))
        if callable(map_location):
            # A function that was written for CUDA looks for the tag `cuda:0`.
            return original(lambda storage, tag: map_location(storage, to_cuda(tag)))
        return original(to_musa(map_location))

    return _get_restore_location


def _both_spellings(locations: dict[Any, Any]) -> dict[Any, Any]:
    """A file may have the tag of either device."""
    return {to_musa(tag): location for tag, location in locations.items()} | locations


@patch("serialization", "torch.storage:TypedStorage.is_cuda", reason="true on MUSA")
def _is_cuda(original: Any) -> Any:
    return property(lambda self: is_musa(self) or original.fget(self))


@patch(
    "serialization", "torch.storage:_StorageBase.cuda", "torch.storage:TypedStorage.cuda", reason="storage.cuda(index)"
)
def _cuda(original: Any) -> Any:
    @wraps(original)
    def cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        place = f"musa:{device}" if isinstance(device, int) else to_musa(str(device or "musa"))
        return self.to(device=place, non_blocking=non_blocking)

    return cuda
