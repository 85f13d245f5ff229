"""Running a function over many files, in this process or in several."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

#: A batch ends when it holds this much source, or this many files.
_BATCH_BYTES = 1_000_000
_BATCH_FILES = 64


class WorkerDied(Exception):
    """A worker process ended without an answer (out of memory, or killed)."""


class Pool:
    """`jobs` processes, or none when `jobs` is 1. `prepare(*arguments)` runs once in each process that works.

    Where that is safe, the processes are forks of this one and share what `prepare` loaded.
    """

    def __init__(self, jobs: int, prepare: Callable[..., None], *arguments: Any) -> None:
        self._executor: ProcessPoolExecutor | None = None
        self._jobs = jobs
        forks = sys.platform == "linux" and threading.active_count() == 1
        if jobs == 1 or forks:
            prepare(*arguments)
            gc.freeze()  # the tables stay: collections need not walk them, nor copy what forks share
        if jobs > 1 and forks:
            fork = multiprocessing.get_context("fork")
            self._executor = ProcessPoolExecutor(jobs, fork, initializer=_ignore_interrupts)
        elif jobs > 1:
            spawn = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(jobs, spawn, initializer=_begin, initargs=(prepare, *arguments))

    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], size: Callable[[Task], int]
    ) -> Iterator[tuple[Task, Result]]:
        """(task, result) pairs, in no particular order. Only a few batches are under way at a time."""
        if self._executor is None:
            for task in tasks:
                yield task, function(task)
            return
        batches = _batches(tasks, size)
        running: dict[Future[list[Result]], list[Task]] = {}
        try:
            for batch in batches:
                running[self._executor.submit(_run, function, batch)] = batch
                if len(running) > 2 * self._jobs:
                    yield from _finished(running)
            while running:
                yield from _finished(running)
        except BrokenProcessPool as error:
            raise WorkerDied("a worker process died, perhaps for lack of memory; try --jobs 1") from error

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=kind is None, cancel_futures=True)
        gc.unfreeze()


def _begin(prepare: Callable[..., None], *arguments: Any) -> None:
    _ignore_interrupts()
    prepare(*arguments)


def _ignore_interrupts() -> None:
    """An interrupt from the terminal reaches all processes: only the first one acts on it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(function: Callable[[Task], Result], batch: list[Task]) -> list[Result]:
    return [function(task) for task in batch]


def _finished(running: dict[Future[list[Result]], list[Task]]) -> Iterator[tuple[Task, Result]]:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        yield from zip(running.pop(future), future.result(), strict=True)


def _batches(tasks: Iterable[Task], size: Callable[[Task], int]) -> Iterator[list[Task]]:
    batch: list[Task] = []
    total = 0
    for task in tasks:
        batch.append(task)
        total += size(task)
        if total >= _BATCH_BYTES or len(batch) >= _BATCH_FILES:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
