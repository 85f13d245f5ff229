"""Graph capture. Operations run while they are captured; a card only records them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import torch

from musa_compat.sim.native import native

from ..core.device import synchronize
from ..core.stream import Stream, StreamContext

_pools: Iterator[int] = count(1)


def is_current_stream_capturing() -> bool:
    """Whether this thread captures a graph."""
    return bool(native().library.musa_sim_capturing())


def graph_pool_handle() -> tuple[int, int]:
    """A new identifier of a memory pool."""
    return 0, next(_pools)


class MUSAGraph:
    """A graph of recorded operations."""

    def __init__(self) -> None:
        self._graph = torch.ops.musa_sim.graph_new()
        self._captured = False

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Record from here on, in this thread."""
        torch.ops.musa_sim.graph_begin(self._graph)

    def capture_end(self) -> None:
        """Record no longer."""
        torch.ops.musa_sim.graph_end(self._graph)
        self._captured = True

    def replay(self) -> None:
        """Run the recorded operations again on the same memory."""
        if not self._captured:
            raise RuntimeError("Called MUSAGraph::replay without a preceding successful capture.")
        torch.ops.musa_sim.graph_replay(self._graph)

    def reset(self) -> None:
        """Forget what was recorded."""
        torch.ops.musa_sim.graph_free(self._graph)
        MUSAGraph.__init__(self)

    def pool(self) -> tuple[int, int]:
        """The identifier of its memory pool."""
        return self._graph, 0

    def enable_debug_mode(self) -> None:
        """Nothing to do: a graph can always be dumped."""

    def debug_dump(self, debug_path: str) -> None:
        """Write the names of the recorded operations to a file."""
        Path(debug_path).write_text(torch.ops.musa_sim.graph_text(self._graph), encoding="utf-8")

    def __del__(self) -> None:
        with suppress(Exception):  # the interpreter may be going down
            torch.ops.musa_sim.graph_free(self._graph)


class graph:
    """Context manager: capture on a side stream."""

    default_capture_stream: Any = None

    def __init__(
        self, musa_graph: Any, pool: Any = None, stream: Any = None, capture_error_mode: str = "global"
    ) -> None:
        if graph.default_capture_stream is None:
            graph.default_capture_stream = Stream()
        self._graph, self._pool, self._mode = musa_graph, pool, capture_error_mode
        self._stream = StreamContext(graph.default_capture_stream if stream is None else stream)

    def __enter__(self) -> None:
        synchronize()
        gc.collect()
        self._stream.__enter__()
        self._graph.capture_begin(self._pool, capture_error_mode=self._mode)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self._graph.capture_end()
        self._stream.__exit__(exc_type, exc_value, traceback)
