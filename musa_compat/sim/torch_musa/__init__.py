"""`torch_musa` and `torch.musa` of the simulated device."""

import torch

from . import _MUSAC, core
from .core import amp, mccl, memory
from .core._lazy_init import _initialized, _is_in_bad_fork, _lazy_call, _lazy_init, init, is_initialized, musart
from .core._utils import _get_musa_device_index as _get_device_index
from .core.amp.common import amp_definitely_not_available, get_amp_supported_dtype
from .core.device import Device as device
from .core.device import DeviceOf as device_of
from .core.device import (
    _DeviceGuard,
    _exchange_device,
    _maybe_exchange_device,
    can_device_access_peer,
    current_device,
    device_count,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_available,
    is_bf16_supported,
    is_tf32_supported,
    set_device,
    synchronize,
)
from .core.memory import (
    empty_cache,
    get_allocator_backend,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_all,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from .core.random import (
    default_generators,
    fork_rng,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .core.stream import (
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    _set_stream_by_id,
    _sleep,
    current_stream,
    default_stream,
    set_stream,
    stream,
)
from .musa_graph import MUSAGraph, graph, graph_pool_handle, is_current_stream_capturing

__version__ = "2.7.1+simulated"
__simulated__ = True
OutOfMemoryError = torch.OutOfMemoryError


def current_blas_handle() -> int:
    """A handle that no library knows."""
    return 0


def current_blaslt_handle() -> int:
    """A handle that no library knows."""
    return 0


def ipc_collect() -> None:
    """Nothing is shared between processes, so there is nothing to collect."""


def _autoload() -> None:
    """What the entry point of torch_musa calls; the simulation is loaded by then."""
