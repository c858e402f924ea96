"""A cluster of two worker processes, one for all tests, and the options by which a command connects to it."""

import os
import signal

import pytest

SECONDS = 300
"""No test of clusters takes longer, not even on a busy machine: one that does hangs."""


@pytest.fixture(autouse=True)
def limited_time(request):
    """Fail a test that hangs, instead of all that come after it."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_):
        pytest.fail(f"{request.node.name} did not end in {SECONDS} s", pytrace=True)

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def cluster():
    """An open connection to two worker processes of this machine."""
    pytest.importorskip("distributed", reason="needs Dask: pip install 'swvp[cluster]'")
    from swvp.cluster.connect import Cluster

    with Cluster(workers=2) as opened:
        yield opened


@pytest.fixture(scope="session")
def address(cluster, tmp_path_factory):
    """Options of a command that connects to the cluster: its address and the files of its certificates."""
    folder = tmp_path_factory.mktemp("certificates")
    security = cluster._local.security
    for name, content in (
        ("ca", security.tls_ca_file),
        ("cert", security.tls_client_cert),
        ("key", security.tls_client_key),
    ):
        (folder / name).write_text(content)
    files = [f"--cluster-tls-{name}={folder / name}" for name in ("ca", "cert", "key")]
    return ["--cluster", cluster.address, *files]


@pytest.fixture
def processes(cluster):
    """Return a function for the process numbers of the workers."""

    def find():
        return list(cluster.client.run(os.getpid).values())

    return find
