"""The process of the server: its socket, its signals, and clients that are too slow.

SIGHUP loads the models again, SIGTERM and SIGINT let the requests under way finish; the second one does not wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import uvicorn

from swvp.errors import InputError, one_line
from swvp.serving.app import create_app
from swvp.serving.guard import Access
from swvp.serving.limits import Limits, Workers
from swvp.serving.metrics import Metrics
from swvp.serving.models import ModelFile, Models
from swvp.serving.slow_clients import SlowClients, most_connections

__all__ = ["open_socket", "run_server"]

SWITCH_INTERVAL = 0.0005
"""Seconds after which a thread that computes in Python lets another one run: by default 5 ms, too long for answers."""

BACKLOG = 2048
GRACE = 30
"""Seconds that requests under way have to finish when the server stops."""


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket at an address; raise InputError if the address cannot be used."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        address = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)[0][4]
        opened = socket.socket(family, socket.SOCK_STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind(address)
            opened.listen(BACKLOG)
        except OSError:
            opened.close()
            raise
    except (OSError, OverflowError) as error:
        why = "another program uses it; choose another --port" if is_in_use(error) else error
        raise InputError(f"cannot listen on {host} port {port}: {why}") from None
    return opened


def is_in_use(error: Exception) -> bool:
    import errno

    return isinstance(error, OSError) and error.errno == errno.EADDRINUSE


class Server(uvicorn.Server):
    """Uvicorn's server with signals of its own."""

    def __init__(self, config: uvicorn.Config, models: Models, metrics: Metrics, note: Callable[[str], object]):
        super().__init__(config)
        self.models, self.metrics, self.note = models, metrics, note
        self._reloading = threading.Lock()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals in the event loop until the server has stopped."""
        loop = asyncio.get_running_loop()
        handlers: dict[str, Callable[[], object]] = {"SIGINT": self.stop, "SIGTERM": self.stop, "SIGHUP": self.reload}
        chosen = {getattr(signal, name): handler for name, handler in handlers.items() if hasattr(signal, name)}
        try:
            for number, handler in chosen.items():
                loop.add_signal_handler(number, handler)
        except (NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
            with super().capture_signals():
                yield
            return
        try:
            yield
        finally:
            for number in chosen:
                loop.remove_signal_handler(number)

    def stop(self) -> None:
        """Stop after the requests under way; at once if asked a second time."""
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True

    def reload(self) -> None:
        """Load the models again, in a thread of its own."""
        threading.Thread(target=self._reload, name="swvp-reload", daemon=True).start()

    def _reload(self) -> None:
        with self._reloading:
            for line, done in self.models.reload():
                self.metrics.reloads["done" if done else "failed"] += 1
                self.note(line)


class OneLine(logging.Handler):
    """Passes on what uvicorn reports, as one line."""

    def __init__(self, note: Callable[[str], object]):
        super().__init__()
        self.note = note

    def emit(self, record: logging.LogRecord) -> None:
        self.note(one_line(record.getMessage().partition("\n")[0]))


def run_server(
    files: Sequence[ModelFile],
    opened: socket.socket,
    *,
    limits: Limits,
    access: Access,
    threads: int,
    waiting: int,
    log: Callable[[str], object] | None,
    note: Callable[[str], object],
    examples: dict[str, list[str]] | None = None,
) -> None:
    """Load models and serve them until a signal comes.

    Parameters
    ----------
    files : sequence of ModelFile
    opened : socket
        Where to listen.
    limits : Limits
    access : Access
    threads, waiting : int
        The number of threads that work, and how many pieces of work may wait for one.
    log : function, optional
        Takes a line for each request.
    note : function
        Takes a line about what the server does.
    examples : dict, optional
        Texts to try, by the names of models.
    """
    models, metrics = Models(files, examples), Metrics()
    workers = Workers(threads, waiting, limits.seconds)
    app = create_app(models, limits=limits, access=access, workers=workers, metrics=metrics, note=note, log=log)
    quiet_uvicorn(note)
    connections = most_connections()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=GRACE,
        backlog=BACKLOG,
        h11_max_incomplete_event_size=32 * 1024,
    )
    server = Server(config, models, metrics, note)
    sys.setswitchinterval(SWITCH_INTERVAL)
    host, port = opened.getsockname()[:2]
    address = f"[{host}]" if ":" in host else host
    names = ", ".join(f"{name} ({served.kind})" for name, served in models.served.items())
    note(f"serving {names} at http://{address}:{port}/; Ctrl-C stops")

    async def serve() -> None:
        slow = SlowClients(server.server_state.connections, connections)
        watching = asyncio.create_task(slow.watch())
        try:
            await server.serve(sockets=[opened])
        finally:
            watching.cancel()
            workers.close()

    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(serve())
    note("stopped")


def quiet_uvicorn(note: Callable[[str], object]) -> None:
    """Let uvicorn report problems only, each as one line."""
    logger: Any = logging.getLogger("uvicorn")
    logger.handlers, logger.propagate = [OneLine(note)], False
    logger.setLevel(logging.WARNING)
