"""Which line of the user's program is running."""

from __future__ import annotations

import sys
import sysconfig
import threading
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import torch

_OURS = str(Path(__file__).parents[2]) + "/"
_TORCH = str(Path(torch.__file__).parent) + "/"
_LIBRARY = sysconfig.get_path("stdlib") + "/"
#: Files of torch that wait for the device by design; what is in them is not hidden.
_WAIT_BY_DESIGN = (f"{_TORCH}amp/grad_scaler.py",)
_BACKWARD = f"{_TORCH}autograd/graph.py"


class Place(NamedTuple):
    """A source line."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


NOWHERE = Place("<unknown>", 0)
_places: list[Place] = [NOWHERE]
_numbers: dict[tuple[str, int], int] = {NOWHERE: 0}
_lock = threading.Lock()
_inner: dict[str, bool] = {}


def here() -> int:
    """The number of the user's line that this thread, or a thread that waits for its backward pass, is at. 0: none."""
    frame = _user_frame(sys._getframe(1)) or _user_frame(_waiting()[1])
    return 0 if frame is None else _number(frame.f_code.co_filename, frame.f_lineno)


def at(number: int) -> Place:
    """The place of a number; NOWHERE for one that was never given."""
    return _places[number] if 0 <= number < len(_places) else NOWHERE


def thread() -> int:
    """The thread that the user sees: this one, or for a thread of autograd the one that waits for its backward pass."""
    if _user_frame(sys._getframe(1)) is None:
        waiting, _ = _waiting()
        if waiting is not None:
            return waiting
    return threading.get_ident()


def waits_by_design() -> bool:
    """Whether a part of torch is running that has to wait for the device."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_inner(frame.f_code.co_filename):
        if frame.f_code.co_filename in _WAIT_BY_DESIGN:
            return True
        frame = frame.f_back
    return False


def is_inner(file: str) -> bool:
    """Whether a file belongs to torch, to this package or to Python."""
    known = _inner.get(file)
    if known is None:
        outside = "/site-packages/" in file or "/dist-packages/" in file
        of_python = file.startswith(_LIBRARY) and not outside
        known = _inner[file] = of_python or file.startswith((_OURS, _TORCH, "<frozen ", "<eval_with_key>"))
    return known


def _user_frame(frame: FrameType | None) -> FrameType | None:
    while frame is not None and is_inner(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _waiting() -> tuple[int | None, FrameType | None]:
    """A thread that waits in `backward`, and its frame."""
    for thread, frame in sys._current_frames().items():
        if frame.f_code.co_filename == _BACKWARD:
            return thread, frame
    return None, None


def _number(file: str, line: int) -> int:
    number = _numbers.get((file, line))
    if number is None:
        with _lock:
            number = _numbers.setdefault((file, line), len(_places))
            if number == len(_places):
                _places.append(Place(file, line))
    return number
