"""What every request passes: access, security headers, one line in the access log, counts.

A server on the loopback address is within reach of every page in the user's browser. So it looks at Host (against pages
whose name is made to point to 127.0.0.1) and at Origin (against forms of other pages), and gives no CORS unless asked.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from swvp.errors import one_line
from swvp.serving.limits import HTTPError
from swvp.serving.metrics import Metrics

__all__ = ["Access", "Guard", "error_answer", "is_loopback"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
OPEN_PATHS = ("/", "/learn", "/health")
"""What needs no token: the pages hold no data, and a supervisor asks for the health."""

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, kw_only=True)
class Access:
    """Which requests are allowed, by their token, origin and host.

    Parameters
    ----------
    token : str, optional
        What clients must send as `Authorization: Bearer TOKEN`.
    origins : sequence of str
        Origins of other pages that may ask, such as https://example.org; "*" is any.
    hosts : sequence of str
        Names that Host may have; empty: any.
    """

    token: str | None = None
    origins: Sequence[str] = ()
    hosts: Sequence[str] = ()

    def check(self, method: str, path: str, headers: dict[bytes, bytes]) -> None:
        """Raise HTTPError for a request that is not allowed."""
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if self.hosts and host_name(host) not in self.hosts:
            raise HTTPError(
                403, "the server does not answer to the name in Host; start it with --allow-host NAME to add one"
            )
        origin = headers.get(b"origin")
        if origin is not None and method not in ("GET", "HEAD", "OPTIONS"):
            given = origin.decode("latin-1").lower()
            if not (self.allows(given) or same_origin(given, host)):
                raise HTTPError(403, "pages of other origins may not ask this server; see --cors")
        is_open = path in OPEN_PATHS or path.startswith("/static/") or method == "OPTIONS"
        if self.token is not None and not is_open:
            scheme, _, credentials = headers.get(b"authorization", b"").partition(b" ")
            right = hmac.compare_digest(credentials.strip(), self.token.encode())
            if scheme.lower() != b"bearer" or not right:
                raise HTTPError(401, "a token is needed: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"})

    def allows(self, origin: str) -> bool:
        """Whether pages of another origin may read answers."""
        return "*" in self.origins or origin in self.origins

    def cors_headers(self, origin: bytes | None, *, preflight: bool) -> list[tuple[bytes, bytes]]:
        """Return the headers that let pages of another origin read an answer."""
        if origin is None or not self.allows(origin.decode("latin-1").lower()):
            return []
        headers = [(b"access-control-allow-origin", b"*" if "*" in self.origins else origin), (b"vary", b"Origin")]
        if preflight:
            headers += [
                (b"access-control-allow-methods", b"GET, POST"),
                (b"access-control-allow-headers", b"Content-Type, Authorization"),
                (b"access-control-max-age", b"600"),
            ]
        return headers


def host_name(host: str) -> str:
    """Return the name in a Host header, without its port.

    >>> host_name("localhost:8000"), host_name("[::1]:8000")
    ('localhost', '::1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def same_origin(origin: str, host: str) -> bool:
    """Whether an Origin is that of the server itself; behind a proxy the scheme may be another one."""
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in DEFAULT_PORTS or not parts.netloc:
        return False
    return parts.netloc == host or (port is None and host == f"{parts.netloc}:{DEFAULT_PORTS[parts.scheme]}")


def is_loopback(host: str) -> bool:
    """Whether an address is within reach of this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK_NAMES


def error_answer(path: str, message: str) -> tuple[bytes, bytes]:
    """Return the content type and the body of an error; UDPipe's clients expect text."""
    if path in ("/process", "/models"):
        return b"text/plain; charset=utf-8", f"{message}\n".encode()
    return b"application/json", json.dumps({"error": message}, ensure_ascii=False).encode()


class Guard:
    """The outermost layer of the application.

    Parameters
    ----------
    app : ASGI application
    access : Access
    metrics : Metrics
    note : function
        Takes a line about each error that should not be.
    log : function, optional
        Takes a line for each request; None: no access log.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        metrics: Metrics,
        note: Callable[[str], object],
        log: Callable[[str], object] | None,
    ):
        self.app, self.access, self.metrics, self.note, self.log = app, access, metrics, note, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        begin, status, size = time.perf_counter(), 0, 0
        headers = dict(scope["headers"])
        method, path = scope["method"], scope["path"]
        origin = headers.get(b"origin")
        cors = self.access.cors_headers(origin, preflight=method == "OPTIONS") if origin else []

        async def guarded_send(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), *HEADERS, *cors]
            else:
                size += len(message.get("body", b""))
            await send(message)

        self.metrics.under_way += 1
        scope["app"] = self  # so that the router raises its errors
        try:
            try:
                self.access.check(method, path, headers)
                if method == "OPTIONS" and cors:
                    await answer(guarded_send, 204, b"")
                else:
                    await self.app(scope, receive, guarded_send)
            except HTTPError as error:
                content_type, body = error_answer(path, str(error))
                await answer(guarded_send, error.status, body, content_type, error.headers)
            except HTTPException as error:  # of the router
                message = "this method is not allowed here" if error.status_code == 405 else error.detail
                content_type, body = error_answer(path, message)
                await answer(guarded_send, error.status_code, body, content_type, dict(error.headers or {}))
            except Exception as error:
                self.note(described(error))
                if status:
                    raise  # the answer has begun: the connection must end
                content_type, body = error_answer(path, "an error of the server; its log says more")
                await answer(guarded_send, 500, body, content_type)
        finally:
            self.metrics.under_way -= 1
            seconds = time.perf_counter() - begin
            self.metrics.count(scope.get("swvp.route", "other"), status, seconds, size)
            if self.log is not None:
                client = scope["client"][0] if scope.get("client") else "-"
                target = quote(path, safe="/:@!$&'()*+,;=~%")
                self.log(one_line(f"{client} {method} {target} {status} {size} {1000 * seconds:.1f}ms"))


def described(error: Exception) -> str:
    """Return an unexpected error, with its place in the code, as one line."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})"
    return one_line(f"error in a request: {type(error).__name__}: {error}{place}")


async def answer(
    send: Any, status: int, body: bytes, content_type: bytes = b"text/plain", more: dict[str, str] | None = None
) -> None:
    """Send an answer that needs no route."""
    headers = [(b"content-length", str(len(body)).encode())]
    if body:
        headers.append((b"content-type", content_type))
    headers += [(name.lower().encode(), value.encode()) for name, value in (more or {}).items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
