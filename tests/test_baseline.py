"""The installed package of machine code: when it is used, and when swvp compiles as if it was not there."""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numba
import pytest

import swvp
from helpers.attacks import attack
from swvp import baseline
from swvp.cli.warmup import write_examples
from swvp.compiled import fingerprint

pytestmark = [
    pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled"),
    pytest.mark.skipif(baseline.installed_folder() is not None, reason="a wheel of kernels is installed here"),
]

SCRIPT = Path(__file__).parent.parent / "packaging" / "build_kernels.py"
OBSERVER = """
import json, sys
from swvp.compile_events import CompileObserver, add_observer

class Events(CompileObserver):
    compiled, loaded = [], []
    def on_start(self, kernel):
        self.compiled.append(kernel)
    def on_load(self, kernel):
        self.loaded.append(kernel)

add_observer(Events())
"""
ONE_KERNEL = f"""
{OBSERVER}
from swvp.structures.exact import on_grid

print(json.dumps([int(on_grid(1.0, 1.0)), len(Events.compiled), len(Events.loaded)]))
"""
BUILD = f"""
import importlib.util, os, sys
spec = importlib.util.spec_from_file_location("build_kernels", {str(SCRIPT)!r})
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)
os.environ |= build.GENERIC
{ONE_KERNEL}
from pathlib import Path
print(build.write_wheel(Path(os.environ["NUMBA_CACHE_DIR"]), Path(sys.argv[1])))
"""
COMPILED, LOADED = [1, 1, 0], [1, 0, 1]


def process(program, *arguments, path=(), **environment):
    """Run a program with more folders on its path: (lines of its output, messages)."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*path, *sys.path])), **environment}
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, env=environment, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel with one small kernel."""
    folder = tmp_path_factory.mktemp("wheel")
    lines, _ = process(BUILD, folder / "dist", NUMBA_CACHE_DIR=str(folder / "cache"))
    assert json.loads(lines[0]) == COMPILED
    return Path(lines[1])


@pytest.fixture
def site(wheel, tmp_path):
    """A folder with the installed wheel, which only this user may write."""
    folder = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


@pytest.fixture
def package(site):
    return site / "swvp_kernels"


@pytest.fixture
def code(package):
    (path,) = package.glob("*.code")
    return path


@pytest.fixture
def run(site, tmp_path):
    """Call the kernel in a process of its own, with an empty cache: ([result, compiled, loaded], messages)."""

    def run(path=(site,)):
        lines, messages = process(ONE_KERNEL, path=path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
        return json.loads(lines[-1]), messages

    return run


@pytest.fixture
def problem(site, monkeypatch):
    """Why the package is not used, in this process."""
    monkeypatch.syspath_prepend(site)

    def problem():
        baseline.examined.cache_clear()
        try:
            return baseline.baseline_problem(fingerprint())
        finally:
            baseline.examined.cache_clear()

    return problem


# ---------------------------------------------------------------- the order: cache, package, compiler


@pytest.mark.slow
def test_with_the_package_nothing_is_compiled_and_nothing_is_written(run, tmp_path):
    assert run() == (LOADED, "")
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
def test_the_cache_of_the_user_comes_first(run, code, tmp_path):
    assert run(path=()) == (COMPILED, "")
    attack(code, tmp_path / "attacked")
    assert run() == (LOADED, "")
    assert not (tmp_path / "attacked").exists()


@pytest.mark.slow
def test_a_kernel_that_the_package_lacks_is_compiled_and_cached(run, code):
    code.unlink()
    assert [run(), run()] == [(COMPILED, ""), (LOADED, "")]


# ---------------------------------------------------------------- packages for something else


def change(package, **fields):
    path = package / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_a_package_for_this_process_has_no_problem(problem):
    assert problem() is None


@pytest.mark.parametrize(
    ("field", "other"), [("platform", "arm64 .so"), ("python", "3.8"), ("numba", "0.59.1"), ("kernels", "0" * 64)]
)
def test_a_package_for_something_else_is_not_used(problem, package, field, other):
    change(package, **{field: other})
    assert problem().startswith(f"it was built for {field} {other}, this is ")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"machine": 3}', "\xff"])
def test_a_package_with_a_damaged_manifest_is_not_used(problem, package, text):
    (package / "manifest.json").write_text(text, encoding="latin-1")
    assert problem().startswith("its manifest.json cannot be read: ")


@pytest.mark.slow
def test_a_package_for_other_sources_means_compiling(run, package):
    change(package, kernels="0" * 64)
    assert run() == (COMPILED, "")


@pytest.mark.slow
def test_a_file_of_another_version_is_not_used_whatever_the_manifest_says(run, code):
    body = re.sub(rb"numba \S+ ", b"numba 0.59.1 ", code.read_bytes()[40:], count=1)
    code.write_bytes(b"SWVPCODE" + hashlib.sha256(body).digest() + body)
    assert run() == (COMPILED, "")


@pytest.mark.slow
def test_a_damaged_file_means_compiling_and_stays_as_it_is(run, code):
    content = bytearray(code.read_bytes())
    content[len(content) * 3 // 4] ^= 4
    code.write_bytes(content)
    assert run() == (COMPILED, "")
    assert code.read_bytes() == content


# ---------------------------------------------------------------- who may have written it


@pytest.mark.slow
@pytest.mark.parametrize(("which", "mode"), [("site", 0o002), ("package", 0o020), ("manifest", 0o002), ("code", 0o002)])
def test_what_others_may_write_is_not_read_and_that_is_said(run, code, tmp_path, which, mode):
    attack(code, tmp_path / "attacked")
    folder = code.parent
    path = {"site": folder.parent, "package": folder, "manifest": folder / "manifest.json", "code": code}[which]
    path.chmod(path.stat().st_mode | mode)
    result, messages = run()
    assert result == COMPILED
    assert f"the machine code of swvp-kernels is not used: other users may write to {path};" in messages
    assert not (tmp_path / "attacked").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_another_user_is_not_used_unless_swvp_belongs_to_them_too(problem, package, monkeypatch):
    for path in [package.parent, package, *package.iterdir()]:
        os.chown(path, 12345, -1)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert problem() == f"{package.parent} belongs to another user"
    monkeypatch.setattr(baseline, "owner_of_swvp", lambda: 12345)
    assert problem() is None


@pytest.mark.slow
def test_a_folder_that_only_has_the_name_of_the_package_is_not_used(run, code, tmp_path):
    attack(code, tmp_path / "attacked")
    (code.parent / "__init__.py").unlink()
    assert run() == (COMPILED, "")
    assert not (tmp_path / "attacked").exists()


def test_a_link_in_place_of_the_package_is_not_used(problem, package, tmp_path):
    package.rename(tmp_path / "elsewhere")
    package.symlink_to(tmp_path / "elsewhere")
    with pytest.warns(RuntimeWarning, match="is not a folder"):
        assert problem() == f"{package} is not a folder"


def test_warmup_says_why_the_package_is_not_used(problem, package, monkeypatch, capsys):
    from swvp.cli.warmup import note_unused_package

    problem()
    note_unused_package()
    assert capsys.readouterr().err == ""
    change(package, numba="0.59.1")
    baseline.examined.cache_clear()
    note_unused_package()
    baseline.examined.cache_clear()
    assert "swvp-kernels is not used: it was built for numba 0.59.1, this is" in capsys.readouterr().err


# ---------------------------------------------------------------- the wheel


def test_the_wheel_names_what_it_is_for(wheel):
    assert wheel.name.startswith(f"swvp_kernels-{swvp.__version__}-cp3{sys.version_info[1]}-")
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"swvp_kernels-{swvp.__version__}.dist-info/METADATA").decode()
        manifest = json.loads(archive.read("swvp_kernels/manifest.json"))
    assert f"Requires-Dist: numba=={numba.__version__}\n" in metadata
    assert manifest["machine"][1:] == ["generic", ""]
    assert manifest["kernels"] == fingerprint()


COMMANDS = [
    "train tagger chunks.txt --dev chunks.txt --epochs 2 -m chunker.swvp",
    "predict chunker.swvp chunks.txt -o chunked.txt",
    "evaluate chunks.txt chunked.txt",
    "inspect chunker.swvp --explain chunks.txt",
    *(
        command.format(order=order)
        for order in (1, 2)
        for command in (
            "train parser trees.conllu --dev trees.conllu --order {order} --epochs 2 -m parser-{order}.swvp",
            "predict parser-{order}.swvp trees.conllu -o parsed-{order}.conllu",
            "evaluate trees.conllu parsed-{order}.conllu --trees",
            "inspect parser-{order}.swvp --explain trees.conllu --top 3",
        )
    ),
]
ALL_COMMANDS = f"""
{OBSERVER}
from pathlib import Path
from swvp.cli.warmup import run_quietly

for command in {COMMANDS!r}:
    run_quietly(command, Path(sys.argv[1]))
print(json.dumps([Events.compiled, len(Events.loaded)]))
"""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="pip installs the wheel")
def test_after_the_wheel_is_installed_no_command_compiles_and_models_have_the_same_bytes(tmp_path):
    subprocess.run([sys.executable, SCRIPT, "--quick", "--out", tmp_path], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target", tmp_path / "site", wheel]
    subprocess.run(install, check=True, capture_output=True)
    shutil.copytree(Path(swvp.__file__).parent, tmp_path / "site" / "swvp")  # other paths than those it was built from
    for name, settings in {
        "installed": {"path": [tmp_path / "site"], "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        "compiled": {},
    }.items():
        (tmp_path / name).mkdir()
        write_examples(tmp_path / name)
        lines, messages = process(ALL_COMMANDS, tmp_path / name, **settings)
        compiled, loaded = json.loads(lines[-1])
        if name == "installed":
            assert (compiled, messages) == ([], "")
            assert loaded >= 20
    assert not (tmp_path / "cache").exists()
    made = sorted(path.name for path in (tmp_path / "compiled").iterdir())
    assert [name for name in made if name.endswith(".swvp")] == ["chunker.swvp", "parser-1.swvp", "parser-2.swvp"]
    for name in made:
        assert (tmp_path / "installed" / name).read_bytes() == (tmp_path / "compiled" / name).read_bytes(), name
