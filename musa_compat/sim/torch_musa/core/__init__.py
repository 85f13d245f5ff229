"""The core of the simulated torch_musa."""

from . import _lazy_init, _utils, amp, device, mccl, memory, random, stream
