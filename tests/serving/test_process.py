"""The command, and the server as a process of its own: signals, slow clients, a port in use."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

pytest.importorskip("uvicorn", reason="needs what a server needs: pip install 'swvp[serve]'")

from swvp.serving.models import model_files
from swvp.serving.server import open_socket

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no signals of Unix")


class Running:
    """A server that was started: what it prints, and a client."""

    def __init__(self, *arguments, port=0):
        command = [sys.executable, "-m", "swvp", "serve", *map(str, arguments), "--port", str(port)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        address = self.wait_for(r"serving .* at http://127\.0\.0\.1:(\d+)/")
        self.port = int(address[1])

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def wait_for(self, pattern, seconds=120.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for line in list(self.lines):
                if match := re.search(pattern, line):
                    return match
            assert self.process.poll() is None or pattern == "stopped", self.lines
            time.sleep(0.02)
        raise AssertionError(f"no {pattern!r} in {self.lines}")

    def ask(self, text="Ann Lee left ."):
        body = json.dumps({"text": text}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/api/v1/analyze", body, headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)


@pytest.fixture(scope="module")
def server(models, model_folder, tmp_path_factory):
    """A server of its own; `models` has loaded the same model, so that all kernels are in the cache."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copy(model_folder / "names.swvp", folder / "names.swvp")
    running = Running(folder / "names.swvp")
    running.file = folder / "names.swvp"
    yield running
    if running.process.poll() is None:
        running.process.kill()
    running.process.wait()


def replace(file, content):
    """Replace a model file as `swvp train` does: whole."""
    other = file.with_suffix(".new")
    other.write_bytes(content)
    os.replace(other, file)


def test_hangup_loads_models_again_and_a_damaged_file_changes_nothing(server):
    before, content = server.ask()["sentences"], server.file.read_bytes()
    replace(server.file, content[: len(content) // 2])
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("did not reload names, the old model stays: ")
    assert server.ask()["sentences"] == before
    replace(server.file, content)
    answers, stop = [], threading.Event()

    def ask_again_and_again():
        while not stop.is_set():
            answers.append(server.ask()["sentences"] == before)

    asking = threading.Thread(target=ask_again_and_again)
    asking.start()
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("swvp: reloaded names")
    stop.set()
    asking.join()
    assert answers
    assert all(answers)


def test_a_server_that_was_killed_starts_again_at_its_port_and_answers_the_same(model_folder):
    first = Running(model_folder / "names.swvp")
    before = first.ask()["sentences"]
    first.process.kill()
    first.process.wait()
    second = Running(model_folder / "names.swvp", port=first.port)
    try:
        assert second.ask()["sentences"] == before
    finally:
        second.process.kill()
        second.process.wait()


def test_slow_clients_do_not_stop_fast_ones(server):
    slow = []
    try:
        for number in range(200):
            client = socket.create_connection(("127.0.0.1", server.port), timeout=10)
            client.sendall([b"P", b"POST /api/v1/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Le", LARGE][number % 3])
            slow.append(client)
        begin = time.monotonic()
        for _ in range(20):
            server.ask()
        assert time.monotonic() - begin < 10
    finally:
        for client in slow:
            client.close()


LARGE = (
    b"POST /api/v1/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)


def test_the_access_log_is_on_standard_error(server):
    server.ask()
    server.wait_for(r"^127\.0\.0\.1 POST /api/v1/analyze 200 \d+ [\d.]+ms$")


def test_a_foreign_host_is_refused(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(b"GET /api/v1/models HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 403")


def test_a_termination_lets_the_request_under_way_finish(server):
    body = json.dumps({"text": "Ann left .\n" * 4000}).encode()
    head = LARGE.decode().replace("1000", str(len(body))).removesuffix("{")
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall(head.encode() + body)
        time.sleep(0.02)
        server.process.send_signal(signal.SIGTERM)
        answer = b""
        while part := client.recv(2**16):
            answer += part
    assert answer.startswith(b"HTTP/1.1 200")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["sentences"][-1]["id"] == 4000
    assert server.process.wait(20) == 0
    server.wait_for("stopped", 5)


# ---------------------------------------------------------------- the command


def test_a_port_in_use_is_one_line(refused, model_folder):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        message = refused("serve", model_folder / "names.swvp", "--port", port)
    assert message == f"cannot listen on 127.0.0.1 port {port}: another program uses it; choose another --port"


def test_an_address_that_is_none_is_one_line():
    from swvp import InputError

    with pytest.raises(InputError, match="cannot listen on no such host port 1"):
        open_socket("no such host", 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.swvp"], "missing.swvp"),
        (["names.swvp", "names.swvp"], "two models with the name names: use NAME=PATH"),
        (["names.swvp", "--token-file", "missing"], "missing: No such file"),
        (["names.swvp", "--token-file", "names.swvp"], "names.swvp: not in UTF-8"),
        (["../x=names.swvp"], "cannot be the name of a model"),
    ],
)
def test_wrong_options_are_one_line(refused, model_folder, monkeypatch, arguments, message):
    paths = [argument.replace("names.swvp", str(model_folder / "names.swvp")) for argument in arguments]
    assert message in refused("serve", *paths, "--port", "0")


def test_a_missing_package_is_one_line(refused, model_folder, monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "uvicorn" else find(name, *a))
    message = refused("serve", model_folder / "names.swvp")
    assert message == "swvp serve needs the package uvicorn: pip install 'swvp[serve]'"


def test_models_have_the_names_of_their_files_or_given_ones(tmp_path):
    path = tmp_path / "a=b.swvp"
    path.write_bytes(b"")
    files = model_files(["el.swvp", "greek=models/el.swvp", str(path)])
    assert [file.name for file in files] == ["el", "greek", "a=b"]


def test_example_texts_name_models_that_are_served(refused, model_paths, tmp_path):
    (tmp_path / "examples").write_text("Ann left.\ntrees\tAnn left .\nother\tAnn left.\n")
    message = refused("serve", *model_paths, "--examples", "examples", "--port", "0")
    assert message == "examples:3: no model 'other' is served; there are: garden, names, trees"
