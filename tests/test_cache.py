"""The cache of machine code: damaged files are compiled anew, those that others could have written are not read."""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from helpers.attacks import attack

pytestmark = [pytest.mark.smoke, pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")]

MODULE = """
from swvp.compiled import kernel

@kernel
def double(x):
    return 2 * x
"""
PROGRAM = """
import os, sys
os.umask(int(sys.argv[1], 8))
from kernels import double
print(double(21), double.stats.cache_hits[double.signatures[0]] if double.stats.cache_hits else 0)
"""


def call(sources, cache, umask="022", **environment):
    """Call a kernel in a process of its own: (its result, whether its machine code came from the cache, warnings)."""
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(cache),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join([str(sources), *sys.path]),
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, umask], capture_output=True, env=environment, text=True, check=True
    )
    result, hits = done.stdout.split()
    return int(result), int(hits), done.stderr


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A folder with the module of the kernel."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "kernels.py").write_text(MODULE)
    return folder


@pytest.fixture(scope="module")
def compiled(tmp_path_factory, sources):
    """A cache that holds the kernel."""
    cache = tmp_path_factory.mktemp("compiled") / "cache"
    assert call(sources, cache) == (42, 0, "")
    assert call(sources, cache) == (42, 1, "")
    return cache


@pytest.fixture
def run(tmp_path, sources):
    """Call the kernel with a cache of this test's own."""
    return functools.partial(call, sources, tmp_path / "cache")


@pytest.fixture
def code(tmp_path, compiled):
    """The file of the kernel in the cache of this test."""
    shutil.copytree(compiled, tmp_path / "cache")  # with the same modes
    (path,) = (tmp_path / "cache").rglob("*.code")
    return path


def flipped(content):
    """The content with a bit flipped near its end, in the machine code."""
    place = len(content) * 3 // 4
    return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:30],
        lambda content: content[:-1],
        flipped,
        lambda content: b"x" * 99,
    ],
    ids=["empty", "cut in its head", "cut in its machine code", "one bit", "something else"],
)
def test_a_damaged_file_is_compiled_anew_and_replaced(run, code, damage):
    code.write_bytes(damage(code.read_bytes()))
    assert run() == (42, 0, "")
    assert run() == (42, 1, "")


def test_machine_code_of_an_older_source_is_removed(tmp_path):
    cache, source = tmp_path / "cache", tmp_path / "kernels.py"
    source.write_text(MODULE)
    assert call(tmp_path, cache) == (42, 0, "")
    (older,) = cache.rglob("*.code")
    source.write_text("\n" + MODULE.replace("2 * x", "3 * x"))
    assert call(tmp_path, cache) == (63, 0, "")
    assert call(tmp_path, cache) == (63, 1, "")
    assert not older.exists()
    assert len(list(older.parent.iterdir())) == 1


@pytest.mark.slow
def test_the_attack_works_where_only_the_user_can_make_it(run, code, tmp_path):
    attack(code, tmp_path / "attacked")
    run()
    assert (tmp_path / "attacked").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("which", "mode"), [("file", 0o002), ("folder", 0o002), ("root", 0o002), ("folder", 0o020)])
def test_a_pickle_that_others_could_have_written_is_not_run_and_that_is_said(run, code, tmp_path, which, mode):
    attack(code, tmp_path / "attacked")
    open_to_others = {"file": code, "folder": code.parent, "root": code.parent.parent}[which]
    open_to_others.chmod(open_to_others.stat().st_mode | mode)
    result, hits, warning = run()
    assert (result, hits) == (42, 0)
    assert f"each start compiles again: other users may write to {open_to_others};" in warning
    assert not (tmp_path / "attacked").exists()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("which", ["file", "folder", "root"])
def test_a_pickle_of_another_user_is_not_run_and_that_is_said(run, code, tmp_path, which):
    attack(code, tmp_path / "attacked")
    given_away = {"file": code, "folder": code.parent, "root": code.parent.parent}[which]
    os.chown(given_away, 12345, -1)
    result, hits, warning = run()
    assert (result, hits) == (42, 0)
    assert f"each start compiles again: {given_away} belongs to another user" in warning
    assert not (tmp_path / "attacked").exists()


@pytest.mark.slow
def test_a_link_or_a_pipe_in_place_of_a_file_is_not_followed(run, code, tmp_path):
    attack(code, tmp_path / "attacked")
    code.rename(tmp_path / "elsewhere")
    code.symlink_to(tmp_path / "elsewhere")
    assert run()[:2] == (42, 0)
    code.unlink()
    os.mkfifo(code)
    assert run()[:2] == (42, 0)
    assert not (tmp_path / "attacked").exists()


@pytest.mark.slow
def test_a_folder_of_many_users_where_nobody_can_rename_what_is_another_s_will_do(run, tmp_path):
    shared = tmp_path / "cache"
    shared.mkdir()
    shared.chmod(0o1777)
    assert [run(), run()] == [(42, 0, ""), (42, 1, "")]


@pytest.mark.slow
@pytest.mark.parametrize("umask", ["000", "002", "077"])
def test_folders_and_files_are_for_the_user_alone_whatever_the_umask(run, tmp_path, umask):
    assert run(umask, NUMBA_CACHE_DIR=str(tmp_path / "a" / "b")) == (42, 0, "")
    made = [tmp_path / "a", *(tmp_path / "a").rglob("*")]
    assert {(path.is_dir(), path.stat().st_mode & 0o777) for path in made} == {(True, 0o700), (False, 0o600)}


@pytest.mark.slow
def test_without_a_named_folder_the_cache_is_the_user_s_own(run, sources, tmp_path):
    for _ in range(2):
        result, hits, warning = run(NUMBA_CACHE_DIR="", XDG_CACHE_HOME=str(tmp_path / "own"), HOME=str(tmp_path))
    assert (result, hits, warning) == (42, 1, "")
    assert not (sources / "__pycache__").exists()
    if sys.platform == "linux":
        assert [path.name for path in (tmp_path / "own").iterdir()] == ["swvp"]


@pytest.mark.slow
def test_where_nothing_can_be_written_each_process_compiles_and_that_is_said(run, tmp_path):
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "cache"
    result, hits, warning = run(NUMBA_CACHE_DIR=str(folder))
    assert (result, hits) == (42, 0)
    assert f"machine code cannot be cached, each start compiles again: {folder}: Not a directory" in warning


FULL_DISK = """
import errno, os, tempfile
import swvp.cache

class Full:
    def __init__(self, handle, mode):
        self.handle = handle
    def __enter__(self):
        return self
    def __exit__(self, *_):
        os.close(self.handle)
    def write(self, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

os.fdopen = Full
from kernels import double
print(double(21))
"""


@pytest.mark.slow
def test_a_full_disk_is_no_reason_to_fail(sources, tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment["PYTHONPATH"] = os.pathsep.join([str(sources), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK], capture_output=True, env=environment, text=True, check=True
    )
    assert done.stdout == "42\n"
    assert f"{tmp_path / 'cache'}: No space left on device" in done.stderr
    assert [path for path in Path(tmp_path / "cache").rglob("*") if path.is_file()] == []


HASHING = """
from swvp.compiled import kernel

@kernel
def double(x):
    seen = {}
    for character in "ab" * x:
        seen[character] = 21
    return seen["a"] + seen["b"]
"""


@pytest.mark.slow
def test_a_user_s_kernel_in_the_cache_may_use_all_of_numba(tmp_path):
    (tmp_path / "kernels.py").write_text(HASHING)
    assert call(tmp_path, tmp_path / "cache") == (42, 0, "")
    assert call(tmp_path, tmp_path / "cache") == (42, 1, "")


START = """
import sys
from kernels import double
print(double(21))
print("scipy.linalg" in sys.modules, "scipy.linalg.cython_blas" in sys.modules)
import numba, numpy as np
print(numba.njit(lambda a: np.dot(a, a))(np.eye(3)).sum())
print(hasattr(sys.modules["scipy.linalg.cython_blas"], "__pyx_capi__"))
"""


@pytest.mark.slow
def test_a_kernel_starts_without_linear_algebra_which_other_kernels_can_still_use(sources, compiled):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(compiled)}
    environment["PYTHONPATH"] = os.pathsep.join([str(sources), *sys.path])
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, env=environment, text=True, check=True)
    assert done.stdout.splitlines() == ["42", "False False", "3.0", "True"]
