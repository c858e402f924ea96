"""The speed of `swvp serve` on the loopback address: requests per second, latencies, CPU time and memory.

MODEL is a model file; a server is started for it and stopped in the end. SENTENCES is a column file or a treebank in
CoNLL-U, from which sentences of about ten words are taken (any of 5 to 15). Each client sends its next request when its
last one is answered. On a busy machine the CPU time of the server per request says more than requests per second, and
the client, which runs in Python on the same machine, takes a good part of the cores.

    req/s       answered requests per second, and those that were answered other than 200
    p50, p99    milliseconds from sending a request to the end of its answer
    CPU         milliseconds of the server's CPU time per request
    memory      of the server, before and after the requests

    python benchmarks/serving.py chunker.swvp test.txt --requests 20000
    python benchmarks/serving.py el.swvp el_gdt-ud-test.conllu --slow 1000
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SIZES = range(5, 16)
START = "POST /api/v1/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HEAD = START + "Content-Length: {}\r\n\r\n"
SLOW = HEAD.format(900).encode() + b"{"


def sentences(path: Path, kind: str) -> list[bytes]:
    """Return the requests of the sentences of a file, as bytes."""
    is_conllu = path.suffix == ".conllu"
    bodies = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split("\t" if is_conllu else None) for line in block.splitlines() if line and line[0] != "#"]
        rows = [row for row in rows if not is_conllu or row[0].isdigit()]
        if len(rows) not in SIZES:
            continue
        if kind == "pipeline":
            bodies.append({"text": " ".join(row[1 if is_conllu else 0] for row in rows)})
        elif is_conllu and kind == "parser":
            names = ("form", "lemma", "upos", "xpos", "feats")
            bodies.append({"tokens": [[dict(zip(names, row[1:6], strict=True)) for row in rows]]})
        else:
            bodies.append({"tokens": [[row[1] if is_conllu else row[:-1] if len(row) > 2 else row[0] for row in rows]]})
    contents = [json.dumps(body, ensure_ascii=False).encode() for body in bodies]
    return [HEAD.format(len(content)).encode() + content for content in contents]


class Client(asyncio.Protocol):
    """One connection that sends request after request."""

    def __init__(self, requests: Iterator[bytes], seconds: list[float], statuses: Counter[int]):
        self.requests, self.seconds, self.statuses = requests, seconds, statuses
        self.done = asyncio.get_running_loop().create_future()
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.send()

    def send(self) -> None:
        request = next(self.requests, None)
        if request is None:
            self.transport.close()
            self.done.set_result(None)
            return
        self.begin = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        at = self.buffer.lower().find(b"content-length: ")
        size = int(self.buffer[at + 16 : self.buffer.find(b"\r", at)])
        if len(self.buffer) < end + 4 + size:
            return
        self.seconds.append(time.perf_counter() - self.begin)
        self.statuses[int(self.buffer[9:12])] += 1
        self.buffer = self.buffer[end + 4 + size :]
        self.send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server closed a connection"))


async def load(
    port: int, requests: list[bytes], number: int, clients: int, slow: int
) -> tuple[list[float], Counter[int]]:
    """Send requests; return the time of each, and how often each status was answered."""
    loop = asyncio.get_running_loop()
    held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(slow)]
    for k, (_, writer) in enumerate(held):
        writer.write(SLOW if k % 2 else SLOW[:20])
    seconds: list[float] = []
    statuses: Counter[int] = Counter()
    wanted = itertools.islice(itertools.cycle(requests), number)
    protocols = [
        (await loop.create_connection(lambda: Client(wanted, seconds, statuses), "127.0.0.1", port))[1]
        for _ in range(clients)
    ]
    await asyncio.gather(*(protocol.done for protocol in protocols))
    for _, writer in held:
        writer.close()
    return seconds, statuses


def usage(pid: int) -> tuple[float, float]:
    """Return the CPU seconds and the megabytes of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks, pages = int(fields[11]) + int(fields[12]), int(fields[21])
    return ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--slow", type=int, default=0, help="also so many clients that send half a request and no more")
    parser.add_argument("--jobs", type=int, default=2, help="threads of the server")
    given = parser.parse_args()
    with contextlib.suppress(ImportError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16_384) if hard > 0 else 16_384, hard))
    command = [sys.executable, "-m", "swvp", "serve", str(given.model), "--port", "0", "--jobs", str(given.jobs)]
    server = subprocess.Popen([*command, "--no-access-log"], stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        started = next(match for line in server.stderr if (match := re.search(r"\((\w+)\) at .*:(\d+)/", line)))
        kind, port = started[1], int(started[2])
        requests = sentences(given.sentences, kind)
        asyncio.run(load(port, requests, 500, given.clients, 0))
        cpu, before = usage(server.pid)
        begin = time.perf_counter()
        seconds, statuses = asyncio.run(load(port, requests, given.requests, given.clients, given.slow))
        whole = time.perf_counter() - begin
        cpu_after, after = usage(server.pid)
    finally:
        server.terminate()
        server.wait()
    seconds.sort()
    others = sum(number for status, number in statuses.items() if status != 200)
    print(f"{given.model.name}, a {kind}: {len(seconds):,} requests, {given.clients} clients, {given.slow} slow ones")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"req/s  {len(seconds) / whole:8.0f}   other than 200: {others}")
    for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
        print(f"{name}    {1000 * seconds[min(int(share * len(seconds)), len(seconds) - 1)]:8.1f} ms")
    print(f"CPU    {1000 * (cpu_after - cpu) / len(seconds):8.2f} ms per request")
    print(f"memory {before:8.1f} MB before, {after:.1f} MB after")


if __name__ == "__main__":
    main()
