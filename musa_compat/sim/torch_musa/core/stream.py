"""Streams and events on the virtual time line of the simulation."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from musa_compat.sim.native import native

from ._utils import _device, _get_musa_device_index
from .device import _set, current_device

_library = native().library
_TYPE = int(torch._C._autograd.DeviceType.PrivateUse1)


class Stream(torch.Stream):
    """A queue of a device. It is busy until a moment that `torch.musa._sleep` moves."""

    def __new__(cls, device: Any = None, priority: int = 0, **kwargs: Any) -> Any:
        if kwargs:
            return super().__new__(cls, priority=priority, **kwargs)
        return super().__new__(cls, device=_device(device), priority=priority)

    @property
    def musa_stream(self) -> int:
        """An integer handle."""
        return int(self.stream_id)

    @property
    def priority(self) -> int:
        """0, or -1 for high priority."""
        return -1 if self.stream_id & 1 else 0

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The lowest and the highest priority."""
        return 0, -1

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.stream_id)

    def record_event(self, event: Any = None) -> Any:
        """Record an event, a new one unless given."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Any) -> None:
        """What comes after on this stream waits for the event."""
        event.wait(self)

    def wait_stream(self, stream: Any) -> None:
        """What comes after on this stream waits for what the other was given so far."""
        self.wait_event(stream.record_event())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, torch.Stream) and (self.stream_id, self.device) == (other.stream_id, other.device)

    def __hash__(self) -> int:
        return hash((self.stream_id, self.device))

    def __repr__(self) -> str:
        return f"<torch_musa.Stream device={self.device} musa_stream={self.stream_id:#x} (simulated)>"


class ExternalStream(Stream):
    """A stream of a handle made elsewhere."""

    def __new__(cls, stream_ptr: int, device: Any = None, **kwargs: Any) -> Any:
        index = _get_musa_device_index(device)
        return Stream.__new__(cls, stream_id=stream_ptr, device_index=index, device_type=_TYPE)


class Event(torch.Event):
    """A mark in a stream."""

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> Any:
        if interprocess:
            raise NotImplementedError("not simulated: MUSA events that cross processes (interprocess=True)")
        event = super().__new__(cls, torch.device("musa"), enable_timing=enable_timing, blocking=blocking)
        event._timing = enable_timing
        return event

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: bytes) -> Any:
        """Not simulated."""
        raise NotImplementedError("not simulated: torch.musa.Event.from_ipc_handle")

    def ipc_handle(self) -> bytes:
        """Not simulated."""
        raise NotImplementedError("not simulated: torch.musa.Event.ipc_handle")

    @property
    def musa_event(self) -> int:
        """An integer handle; 0 before the first record."""
        return int(self.event_id)

    def record(self, stream: Any = None) -> None:
        """Mark the stream's present end; the current stream unless given."""
        super().record(current_stream() if stream is None else stream)

    def wait(self, stream: Any = None) -> None:
        """What comes after on the stream waits for this event."""
        super().wait(current_stream() if stream is None else stream)

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds between two events. Raises RuntimeError unless both are timed, recorded and over."""
        if not (self._timing and end_event._timing):
            raise RuntimeError("both events must be created with enable_timing=True")
        time = float(_library.musa_sim_elapsed(self.musa_event, end_event.musa_event))
        if not (self.musa_event and end_event.musa_event):
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        if time == -2:
            raise RuntimeError("MUSA error: device not ready (an event is not over; synchronize it first)")
        return time

    def __repr__(self) -> str:
        return f"<torch_musa.Event {self.musa_event:#x} (simulated)>"


def _wrap(stream: Any) -> Any:
    return Stream(stream_id=stream.stream_id, device_index=stream.device_index, device_type=stream.device_type)


def current_stream(device: Any = None) -> Any:
    """This thread's stream of a device."""
    return _wrap(torch.accelerator.current_stream(_device(device)))


def default_stream(device: Any = None) -> Any:
    """The stream that a device has from the start."""
    return Stream(stream_id=0, device_index=_get_musa_device_index(device), device_type=_TYPE)


def set_stream(stream: Any) -> None:
    """Make a stream this thread's; None changes nothing. The current device stays."""
    if stream is None:
        return
    previous = current_device()
    torch.accelerator.set_stream(stream)
    _set(previous)


def _set_stream_by_id(stream_id: int, device_index: int, device_type: int) -> None:
    set_stream(Stream(stream_id=stream_id, device_index=device_index, device_type=device_type))


class StreamContext:
    """Context manager: the current stream, and its device as the current one; None changes nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is None:
            return
        self._device = current_device()
        self._previous = current_stream(self.stream.device)
        set_stream(self.stream)
        _set(self.stream.device_index)

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:  # noqa: A002
        if self.stream is not None:
            set_stream(self._previous)
            _set(self._device)


def stream(stream: Any) -> StreamContext:
    """`StreamContext(stream)`."""
    return StreamContext(stream)


def _sleep(cycles: int) -> None:
    """Keep the current stream busy for so many cycles of the architecture's clock. Returns at once."""
    _library.musa_sim_sleep(int(cycles * 1000 / native().settings.clock_mhz))
