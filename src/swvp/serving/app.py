"""The routes of the server: each reads its request, lets a worker do the work, and sends the answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from swvp.errors import InputError
from swvp.serving import lessons, udpipe
from swvp.serving.answers import answer_of
from swvp.serving.explanations import explain
from swvp.serving.guard import Access, Guard
from swvp.serving.limits import Deadline, HTTPError, Limits, Workers, too_large
from swvp.serving.metrics import Metrics
from swvp.serving.models import Models
from swvp.serving.openapi import openapi
from swvp.serving.queries import Query, parsed_query, read_json

__all__ = ["Application", "create_app"]

Work = Callable[[Deadline], Any]
PAGES = {"/": "index.html", "/learn": "learn.html"}
FILES = (("swvp.serving", "static"), ("swvp.tracing", "assets"))
"""The folders of what pages load; the second one is that of the page that `swvp explain-update --html` writes, too."""

KINDS = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}
JSON = "application/json"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class Application:
    """The server's state, and an endpoint for each route.

    Parameters
    ----------
    models : Models
    workers : Workers
    limits : Limits
    metrics : Metrics
    """

    def __init__(self, models: Models, workers: Workers, limits: Limits, metrics: Metrics):
        self.models, self.workers, self.limits, self.metrics = models, workers, limits, metrics
        self.folders = [resources.files(package) / folder for package, folder in FILES]
        self.held = 0  # bytes of bodies under way
        self.openapi = json.dumps(openapi(), ensure_ascii=False).encode()

    def routes(self) -> list[Route]:
        """Return all routes."""
        routes: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("GET", "/api/v1/models", self.list_models),
            ("POST", "/api/v1/analyze", self.analyse),
            ("POST", "/api/v1/explain", self.explain),
            ("GET", "/api/v1/lessons", self.list_lessons),
            ("GET", "/api/v1/lessons/{name}", self.lesson),
            ("POST", "/api/v1/trace", self.trace),
            ("GET", "/api/v1/openapi.json", self.describe),
            ("GET", "/models", self.udpipe_models),
            ("GET", "/process", self.udpipe_process),
            ("POST", "/process", self.udpipe_process),
            ("GET", "/health", self.health),
            ("GET", "/metrics", self.show_metrics),
            ("GET", "/static/{name}", self.static_file),
            *(("GET", path, self.page) for path in PAGES),
        ]
        return [Route(path, self.named(path, endpoint), methods=[method]) for method, path, endpoint in routes]

    def named(self, path: str, endpoint: Callable[[Request], Awaitable[Response]]) -> Any:
        """Return an endpoint that says which route it is, for the metrics, and forgets its body in the end."""

        async def run(request: Request) -> Response:
            request.scope["swvp.route"] = path
            try:
                return await endpoint(request)
            finally:
                self.held -= request.scope.get("swvp.held", 0)

        return run

    # ------------------------------------------------------------ the API

    async def list_models(self, request: Request) -> Response:
        return as_json(self.models.describe() | {"limits": self.limits.shown()})

    async def analyse(self, request: Request) -> Response:
        body = await self.json_body(request)

        def work(deadline: Deadline) -> bytes:
            given = read_json(body)
            served = self.models.find(given.get("model"))
            queries = parsed_query(given, self.limits)

            def answer(query: Query) -> dict[str, Any]:
                begin = time.perf_counter()
                result = answer_of(served, served.analyse(query, self.limits, deadline), query.output)
                return result | {"seconds": round(time.perf_counter() - begin, 6)}

            if isinstance(queries, Query):
                return encoded(answer(queries))
            return encoded({"model": served.name, "results": [answer(query) for query in queries]})

        return await self.worked(work)

    async def explain(self, request: Request) -> Response:
        body = await self.json_body(request)

        def work(deadline: Deadline) -> bytes:
            begin = time.perf_counter()
            given = read_json(body)
            answer = explain(self.models.find(given.get("model")), given, self.limits, deadline)
            return encoded(answer | {"seconds": round(time.perf_counter() - begin, 6)})

        return await self.worked(work)

    async def list_lessons(self, request: Request) -> Response:
        return as_json(lessons.lesson_list())

    async def lesson(self, request: Request) -> Response:
        name, parameters = request.path_params["name"], dict(request.query_params)
        return await self.worked(lambda _: encoded(lessons.lesson_trace(name, parameters)))

    async def trace(self, request: Request) -> Response:
        body = await self.json_body(request)
        return await self.worked(lambda deadline: encoded(lessons.user_trace(read_json(body), deadline)))

    async def describe(self, request: Request) -> Response:
        return Response(self.openapi, media_type=JSON)

    # ------------------------------------------------------------ UDPipe's protocol

    async def udpipe_models(self, request: Request) -> Response:
        return as_json(udpipe.models(self.models))

    async def udpipe_process(self, request: Request) -> Response:
        """Answer, or raise an error of status 400, which the clients of this protocol expect."""
        parameters = dict(request.query_params)
        try:
            if request.method == "POST":
                parameters |= await self.form(request)
            return await self.worked(
                lambda deadline: encoded(udpipe.process(self.models, parameters, self.limits, deadline))
            )
        except HTTPError as error:
            if error.status in (408, 429, 503):
                raise
            raise HTTPError(400, str(error)) from None

    async def form(self, request: Request) -> dict[str, str]:
        """Return the fields of a form; files are errors."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = await self.body(request)
        if not body:
            return {}
        if kind not in FORMS:
            raise HTTPError(400, f"Unsupported Content-Type; use {' or '.join(FORMS)}.")
        try:
            again = Request(request.scope, replayed(body))
            fields = await again.form(max_files=0, max_fields=20, max_part_size=self.limits.bytes)
        except (HTTPException, ValueError) as error:
            raise HTTPError(400, f"Cannot parse the form: {getattr(error, 'detail', error)}") from None
        return {name: value for name, value in fields.items() if isinstance(value, str)}

    # ------------------------------------------------------------ other routes

    async def health(self, request: Request) -> Response:
        return as_json({"status": "ok"})

    async def show_metrics(self, request: Request) -> Response:
        gauges = {"swvp_work_under_way": float(self.workers.busy), "swvp_work_threads": float(self.workers.threads)}
        return Response(self.metrics.text(gauges | process_gauges()), media_type="text/plain; version=0.0.4")

    async def page(self, request: Request) -> Response:
        return self.file(PAGES[request.url.path])

    async def static_file(self, request: Request) -> Response:
        return self.file(request.path_params["name"])

    def file(self, name: str) -> Response:
        """Return a file of the pages; `name` has no slash, so it cannot lead elsewhere."""
        kind = KINDS.get(PurePosixPath(name).suffix)
        file = next((folder / name for folder in self.folders if (folder / name).is_file()), None)
        if kind is None or file is None or name.startswith(".") or "\\" in name or "\0" in name:
            raise HTTPError(404, "no such page")
        return Response(file.read_bytes(), media_type=kind, headers={"Cache-Control": "no-cache"})

    # ------------------------------------------------------------ reading and working

    async def json_body(self, request: Request) -> bytes:
        """Return the body of a request if it says that it is JSON."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            raise HTTPError(415, f"Content-Type must be {JSON}")
        return await self.body(request)

    async def body(self, request: Request) -> bytes:
        """Return the body of a request, if it is neither too large nor too slow."""
        most = self.limits.bytes
        announced = request.headers.get("content-length", "0")
        if announced.isdigit() and int(announced) > most:
            raise too_large("bytes of the body", int(announced), most)
        parts, size = [], 0
        request.scope["swvp.held"] = 0
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                async for part in request.stream():
                    parts.append(part)
                    size += len(part)
                    self.held += len(part)
                    request.scope["swvp.held"] = size
                    if self.held > self.limits.bytes_in_all:
                        raise HTTPError(429, "too much is being sent at the moment; try again", {"Retry-After": "1"})
                    if size > most:
                        raise too_large("bytes of the body", size, most)
        except TimeoutError:
            raise HTTPError(408, "the body did not arrive in time", {"Connection": "close"}) from None
        return b"".join(parts)

    async def worked(self, work: Work) -> Response:
        """Let a worker do the work; return its result as an answer in JSON."""
        try:
            return Response(await self.workers.run(work), media_type=JSON)
        except InputError as error:
            raise HTTPError(400, str(error)) from None
        except MemoryError:
            raise HTTPError(503, "not enough memory; send less at once") from None


def replayed(body: bytes) -> Receive:
    """Return a `receive` function that gives a body which was already read."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def encoded(answer: Any) -> bytes:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


def as_json(answer: Any) -> Response:
    return Response(encoded(answer), media_type=JSON)


def process_gauges() -> dict[str, float]:
    """Return the CPU time and the memory of this process, where the system reports them."""
    gauges = {"process_cpu_seconds_total": time.process_time()}
    try:
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[1])
        import resource

        gauges["process_resident_memory_bytes"] = float(pages * resource.getpagesize())
    except (OSError, ImportError):
        pass
    return gauges


async def unknown_path(scope: Scope, receive: Receive, send: Send) -> None:
    raise HTTPError(404, "no such path; see /api/v1/openapi.json")


def create_app(
    models: Models,
    *,
    limits: Limits | None = None,
    access: Access | None = None,
    workers: Workers | None = None,
    metrics: Metrics | None = None,
    note: Callable[[str], object] = lambda line: None,
    log: Callable[[str], object] | None = None,
) -> Guard:
    """Return the server as an ASGI application.

    Parameters
    ----------
    models : Models
    limits : Limits, optional
    access : Access, optional
    workers : Workers, optional
        By default two threads, before which 64 pieces of work may wait.
    metrics : Metrics, optional
    note : function, optional
        Takes a line about each error that should not be.
    log : function, optional
        Takes a line for each request; None: no access log.

    Returns
    -------
    Guard
        An ASGI application.
    """
    limits = Limits() if limits is None else limits
    workers = Workers(2, 64, limits.seconds) if workers is None else workers
    metrics = Metrics() if metrics is None else metrics
    application = Application(models, workers, limits, metrics)
    router = Router(routes=application.routes(), default=unknown_path, redirect_slashes=False)
    return Guard(router, Access() if access is None else access, metrics, note, log)
