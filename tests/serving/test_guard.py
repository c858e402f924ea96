"""Who may ask, what the headers say, the access log, the metrics, the limits, and what is read from disk."""

import asyncio
import json
import re
import threading
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs what a server needs: pip install 'swvp[serve]'")

from starlette.testclient import TestClient

from swvp.serving.app import create_app
from swvp.serving.guard import LOOPBACK_NAMES, Access
from swvp.serving.limits import Limits, Workers
from swvp.serving.openapi import openapi
from swvp.serving.slow_clients import SlowClients

QUESTION = {"model": "names", "text": "Ann left ."}


@pytest.fixture
def new_client(models):
    """Make a client of a server with other options."""

    def make(*, base_url="http://127.0.0.1:8000", **options):
        return TestClient(create_app(models, **({"log": None} | options)), base_url=base_url)

    return make


def test_every_answer_has_the_headers_of_safety(client):
    for path in ("/", "/nothing", "/api/v1/models", "/health"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


def test_unknown_paths_and_methods_are_errors_in_json(client):
    assert client.get("/nothing").status_code == 404
    assert client.get("/api/v1/analyze").status_code == 405
    assert client.delete("/api/v1/models").json() == {"error": "this method is not allowed here"}


@pytest.mark.parametrize(
    "name", ["../app.py", "..%2fapp.py", "%2e%2e/app.py", ".hidden", "a\\b", "%00", "__init__.py", "a/b"]
)
def test_only_files_of_the_pages_are_sent(client, name):
    assert client.get(f"/static/{name}").status_code == 404


def test_pages_that_are_missing_are_not_found(client, monkeypatch, tmp_path, new_client):
    from importlib import resources

    monkeypatch.setattr(resources, "files", lambda package: tmp_path)
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "app.js").write_text("1")
    empty = new_client()
    assert empty.get("/").status_code == empty.get("/learn").status_code == 404
    response = empty.get("/static/app.js")
    assert (response.text, response.headers["content-type"].partition(";")[0]) == ("1", "text/javascript")


def test_a_token_opens_the_api_and_pages_need_none(new_client):
    client = new_client(access=Access(token="secret"))
    assert client.get("/health").status_code == 200
    for header in (None, "Bearer", "Bearer secre", "Bearer secret2", "Basic secret", "bearer\xe9 x"):
        headers = {} if header is None else {"Authorization": header.encode("latin-1")}
        response = client.get("/api/v1/models", headers=headers)
        assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    assert client.get("/api/v1/models", headers={"Authorization": "Bearer secret"}).status_code == 200
    assert client.get("/models").status_code == client.get("/metrics").status_code == 401


def test_a_server_on_the_loopback_address_knows_its_names(new_client):
    client = new_client(access=Access(hosts=LOOPBACK_NAMES))
    for host, status in {
        "localhost:8000": 200,
        "[::1]:8000": 200,
        "evil.example": 403,
        "127.0.0.1.evil.example": 403,
    }.items():
        assert client.get("/health", headers={"Host": host}).status_code == status


def test_pages_of_other_origins_cannot_post(new_client):
    client = new_client()
    for origin, status in {"http://127.0.0.1:8000": 200, "https://evil.example": 403, "null": 403}.items():
        assert client.post("/api/v1/analyze", json=QUESTION, headers={"Origin": origin}).status_code == status
        assert client.get("/health", headers={"Origin": origin}).headers.get("access-control-allow-origin") is None


def test_cors_is_for_the_origins_that_are_named(new_client):
    client = new_client(access=Access(origins=["https://good.example"]))
    origin = {"Origin": "https://good.example"}
    answer = client.post("/api/v1/analyze", json=QUESTION, headers=origin)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "https://good.example")
    preflight = client.options("/api/v1/analyze", headers=origin | {"Access-Control-Request-Method": "POST"})
    assert preflight.status_code == 204
    assert "Authorization" in preflight.headers["access-control-allow-headers"]
    assert client.options("/api/v1/analyze", headers={"Origin": "https://evil.example"}).status_code == 405


def test_the_access_log_has_one_line_a_request_without_control_characters(new_client):
    lines = []
    client = new_client(log=lines.append)
    client.get("/health")
    client.get("/a%0d%0ab%1b[31m\u202e")
    assert len(lines) == 2
    assert re.fullmatch(r"\S+ GET /health 200 15 [\d.]+ms", lines[0])
    assert all(line.isprintable() for line in lines)


def test_metrics_count_requests_by_route_and_not_by_path(new_client):
    client = new_client()
    client.post("/api/v1/analyze", json=QUESTION)
    client.get("/secret-path")
    text = client.get("/metrics").text
    assert 'swvp_requests_total{route="/api/v1/analyze",status="200"} 1' in text
    assert 'swvp_requests_total{route="other",status="404"} 1' in text
    assert 'swvp_request_seconds_bucket{route="/api/v1/analyze",le="+Inf"} 1' in text
    assert "secret-path" not in text
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z_]+(\{[^}]*\})? [\d.e+-]+", line) for line in samples)


def test_openapi_describes_every_route(models, client):
    described = client.get("/api/v1/openapi.json").json()
    assert described == json.loads(json.dumps(openapi()))
    routes = {(method.lower(), route.path) for route in create_app(models).app.routes for method in route.methods}
    listed = {(method, path) for path, methods in described["paths"].items() for method in methods}
    pages = {"/", "/learn", "/static/{name}"}
    assert {route for route in routes if route[0] != "head" and route[1] not in pages} == listed
    names = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(described)))
    assert names <= set(described["components"]["schemas"])


def test_the_documentation_names_every_path_and_every_field():
    page = (Path(__file__).parent.parent.parent / "docs" / "reference" / "http-api.md").read_text(encoding="utf-8")
    described = openapi()
    for path in described["paths"]:
        assert path.replace("{name}", "NAME") in page
    for schema in ("Query", "Question", "TraceQuery"):
        for field in described["components"]["schemas"][schema]["properties"]:
            assert f"`{field}`" in page


# ---------------------------------------------------------------- limits


def test_what_is_too_large_is_refused(new_client):
    client = new_client(limits=Limits(bytes=2000, words_per_sentence=5, words=8, texts=2, ranked_words=3))

    def status(**given):
        return client.post("/api/v1/analyze", json={"model": "names"} | given).status_code

    assert status(text="a " * 1500) == 413
    assert status(text="a b c d e f") == status(tokens=[["a"] * 6]) == 413
    assert status(text="a b c\n" * 3) == status(tokens=[["a"] * 3] * 3) == 413
    assert status(texts=["a"] * 3) == 413
    assert status(text="a b c d", k=2) == 413
    assert status(text="a b c", k=2) == status(text="a b c d") == 200
    chunked = client.post(
        "/api/v1/analyze", content=iter([b"x" * 1500] * 2), headers={"Content-Type": "application/json"}
    )
    assert chunked.status_code == 413


def test_the_bodies_of_all_requests_are_bounded_and_forgotten(new_client):
    client = new_client(limits=Limits(bytes_in_all=200))
    for _ in range(3):
        assert client.post("/api/v1/analyze", json=QUESTION).status_code == 200
        refused = client.post("/api/v1/analyze", json=QUESTION | {"text": "a " * 100})
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")


def test_a_body_must_say_that_it_is_json(client):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx"):
        assert client.post("/api/v1/analyze", content=b"{}", headers={"Content-Type": kind}).status_code == 415
    kind = "Application/JSON; charset=utf-8"
    content = json.dumps(QUESTION).encode()
    assert client.post("/api/v1/analyze", content=content, headers={"Content-Type": kind}).status_code == 200


def test_too_much_work_is_refused_at_once(new_client, models, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def slow(*_):
        begun.set()
        go_on.wait(10)
        return iter(())

    monkeypatch.setattr(models.served["names"], "analyse", slow)
    workers = Workers(1, 1, 20.0)
    client = new_client(workers=workers)
    statuses = []
    threads = [
        threading.Thread(target=lambda: statuses.append(client.post("/api/v1/analyze", json=QUESTION).status_code))
        for _ in range(2)
    ]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    while workers.busy < 2:
        pass
    refused = client.post("/api/v1/analyze", json=QUESTION)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert client.get("/health").status_code == 200
    go_on.set()
    for thread in threads:
        thread.join()
    assert statuses == [200, 200]
    assert workers.busy == 0


def test_work_that_takes_too_long_is_given_up(new_client, models, monkeypatch):
    def endless(query, limits, deadline):
        while True:
            deadline.check()
            yield from ()

    monkeypatch.setattr(models.served["names"], "analyse", endless)
    workers = Workers(1, 1, 0.1)
    client = new_client(workers=workers)
    assert client.post("/api/v1/analyze", json=QUESTION).status_code == 503
    assert client.post("/api/v1/analyze", json=QUESTION).status_code == 503  # the thread is free again


def test_an_error_of_the_server_is_one_line_in_the_log_and_none_for_the_client(new_client, models, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("secret\ndetail")

    monkeypatch.setattr(models.served["names"], "analyse", broken)
    notes = []
    response = new_client(note=notes.append).post("/api/v1/analyze", json=QUESTION)
    assert (response.status_code, response.json()) == (500, {"error": "an error of the server; its log says more"})
    assert len(notes) == 1
    assert notes[0].startswith("error in a request: ZeroDivisionError: secret\\ndetail (")


def test_a_body_that_comes_too_slowly_is_given_up(models):
    app = create_app(models, limits=Limits(body_seconds=0.05), log=None)
    sent = []

    async def receive():
        await asyncio.sleep(1)

    async def send(message):
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
    scope = {"type": "http", "method": "POST", "path": "/api/v1/analyze", "headers": headers, "query_string": b""}
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 408


class Transport:
    def __init__(self):
        self.unsent, self.ended = 0, None

    def get_write_buffer_size(self):
        return self.unsent

    def close(self):
        self.ended = "closed"

    def abort(self):
        self.ended = "aborted"


class Connection:
    """What a sweep looks at in a protocol of uvicorn."""

    def __init__(self, cycle=None):
        self.transport, self.cycle = Transport(), cycle


class Cycle:
    def __init__(self, response_complete):
        self.response_complete = response_complete


def test_connections_without_progress_are_closed():
    silent, working, unread, active = (
        Connection(),
        Connection(Cycle(False)),
        Connection(Cycle(True)),
        Connection(Cycle(True)),
    )
    connections = {silent, working, unread, active}
    slow = SlowClients(connections, most=100)
    unread.transport.unsent = 1000
    for second in range(26):
        active.cycle = Cycle(True)  # another request was answered
        slow.sweep(float(second))
        if second == 11:
            assert silent.transport.ended == "closed"
    assert unread.transport.ended == "aborted"
    assert working.transport.ended is active.transport.ended is None


def test_the_oldest_idle_connections_make_room():
    connections = []
    slow = SlowClients(connections, most=2)
    for second in range(4):
        connections.append(Connection(Cycle(False) if second == 0 else None))
        slow.sweep(float(second) / 10)
        connections[:] = [each for each in connections if each.transport.ended is None]
    assert len(connections) == 2
    assert connections[0].cycle is not None
