"""A cluster of two worker processes, one for all tests, and the options by which a command connects to it."""

import os

import pytest


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
