"""The workers: processes that are given tasks and send back what comes of them. Knows nothing of what a task does.

What goes through a pipe is small: a task says where to read and where to write, and gives counts and digests. A worker
whose parent is gone ends by itself, with its next record. Until then it holds a lock on a file, for which the next run
waits, so that nobody writes into a store that another run has taken over.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from turncodec.migrate import JobError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

TICK = 0.1
"""Seconds between two looks at how far the workers are."""
PATIENCE = 30.0
"""Seconds to wait for what a killed run has left at work."""


class Gauge:
    """How far a worker is with its task: bytes, records and refusals, seen by the parent while it goes on."""

    def __init__(self, context: BaseContext) -> None:
        self.numbers = context.RawArray("Q", 3)
        self.parent = os.getpid()

    def show(self, done: int, records: int, refused: int) -> None:
        """Called for each record. Ends the process when nobody waits for it any more."""
        self.numbers[:] = (done, records, refused)
        if os.getppid() != self.parent:
            os._exit(1)

    def clear(self) -> None:
        self.numbers[:] = (0, 0, 0)


Task = Callable[[Gauge], Any]


class Finished(NamedTuple):
    """A task, and what came of it: a result, or what it raised."""

    task: Task
    result: Any
    wrong: Exception | None


class Worker:
    """A process that does one task at a time."""

    def __init__(self, context: Any, others: list[Connection], lock: Path | None) -> None:
        self.gauge = Gauge(context)
        self.connection, own = context.Pipe()
        inherited = [*others, self.connection] if context.get_start_method() == "fork" else []
        self.process = context.Process(target=serve, args=(own, inherited, self.gauge, lock), daemon=True)
        self.process.start()
        own.close()
        self.task: Task | None = None

    def give(self, task: Task) -> None:
        self.task = task
        self.connection.send(task)

    def take(self) -> Finished:
        """What came of the task. Raises `JobError` where the process has ended instead."""
        assert self.task is not None
        try:
            result, wrong = self.connection.recv()
        except (EOFError, OSError) as gone:
            self.process.join()
            raise JobError(f"a worker has ended by itself (status {self.process.exitcode}); is memory short?") from gone
        self.gauge.clear()
        return Finished(self.task, result, wrong)

    def end(self) -> None:
        self.process.terminate()
        self.process.join()
        self.connection.close()


def each(
    waiting: deque[Task], workers: int, tick: Callable[[list[Gauge]], object], lock: Path | None = None
) -> Iterator[Finished]:
    """Do every task, in whatever order they end. Whoever iterates may add to those that are waiting. However the
    iteration ends, no process is left. `lock` is the file that the workers hold while they live."""
    context = context_of()
    sys.stdout.flush()
    crew: list[Worker] = []
    busy: dict[Connection, Worker] = {}
    try:
        while waiting or busy:
            idle = [worker for worker in crew if worker.connection not in busy]
            while waiting and (idle or len(crew) < workers):
                if not idle:
                    crew.append(Worker(context, [worker.connection for worker in crew], lock))
                    idle.append(crew[-1])
                worker = idle.pop()
                worker.give(waiting.popleft())
                busy[worker.connection] = worker
            ready = wait(list(busy), TICK)
            for worker in [worker for connection, worker in busy.items() if connection in ready]:
                del busy[worker.connection]
                yield worker.take()
            tick([worker.gauge for worker in busy.values()])
    finally:
        for worker in crew:
            worker.end()


def context_of() -> Any:
    """How processes are made: by a fork, which is quick, where it is safe: on Linux, without the threads of Arrow."""
    is_forked = sys.platform == "linux" and "pyarrow" not in sys.modules
    return multiprocessing.get_context("fork" if is_forked else "spawn")


def serve(connection: Connection, inherited: list[Connection], gauge: Gauge, lock: Path | None) -> None:
    """Do tasks until there are no more. Ctrl-C is the parent's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in inherited:  # else the end of the parent would not be seen
        other.close()
    held = hold(lock)
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            break
        if os.getppid() != gauge.parent:
            break
        try:
            reply: tuple[Any, Exception | None] = task(gauge), None
        except Exception as wrong:
            reply = None, sendable(wrong)
        try:
            connection.send(reply)
        except OSError:
            break
    if held:
        held.close()


def sendable(wrong: Exception) -> Exception:
    """An exception as it can be sent, whatever it holds."""
    try:
        pickle.loads(pickle.dumps(wrong))
    except Exception:
        return JobError(f"{type(wrong).__name__}: {wrong}")
    return wrong


# ---------------------------------------------------------------- who else is at work


def hold(lock: Path | None) -> BinaryIO | None:
    """Hold a file together with the other workers, as long as it is open."""
    if lock is None or fcntl is None:
        return None
    file = lock.open("ab")
    fcntl.flock(file, fcntl.LOCK_SH)
    return file


def wait_for_others(lock: Path) -> None:
    """Wait until no worker of a run that was killed is at work. Raises `JobError` where one does not end."""
    if fcntl is None or not lock.exists():
        return
    with lock.open("ab") as file:
        for _ in range(int(PATIENCE / TICK)):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                time.sleep(TICK)
    raise JobError(f"{lock}: a worker of an earlier run is still at work; try again when it has ended")
