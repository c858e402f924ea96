"""Build a wheel of swvp-kernels: the kernels that the commands use, compiled for every processor of this architecture.

    python packaging/build_kernels.py --out dist

It takes some minutes, because it runs the commands of `swvp warmup`, and some with other options, with an empty cache.
The wheel is for this platform, this minor version of Python, this version of Numba and these sources of swvp. With
anything else swvp compiles as if the wheel was not installed. Nothing but swvp is needed to build it.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_DISABLE_INTEL_SVML": "1"}
"""Settings of Numba for machine code that needs no special processor and no other library."""

MORE_COMMANDS = (
    "train parser trees.conllu --non-projective --epochs 1 -m crossing.swvp",
    "predict crossing.swvp trees.conllu -o parsed.conllu",
    "inspect crossing.swvp --explain trees.conllu --top 3",
    "train parser trees.conllu --order 2 --projective --epochs 1 -m projective.swvp",
    "predict projective.swvp trees.conllu -o parsed.conllu",
    "train tagger chunks.txt --rule mira:5 --epochs 1 -m mira.swvp",
    "train tagger chunks.txt --dev chunks.txt --candidates 2 --epochs 1 -m few.swvp",
)
"""Common options that `swvp warmup` leaves out, because it has to be quick."""

METADATA = """\
Metadata-Version: 2.1
Name: swvp-kernels
Version: {version}
Summary: Machine code for swvp {version} on {platform}, so that it starts without compiling
License: MIT
Requires-Python: =={python}.*
Requires-Dist: numba=={numba}
"""
"""Numba is required exactly: with another version the wheel would be of no use."""


def main() -> None:
    """Compile everything in an empty cache and write the wheel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("dist"), help="folder for the wheel (default: dist)")
    parser.add_argument("--quick", action="store_true", help="only what `swvp warmup --order 2` compiles")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="swvp-kernels-") as cache:
        os.environ |= GENERIC | {"NUMBA_CACHE_DIR": cache}  # read when Numba is imported
        compile_kernels(() if options.quick else MORE_COMMANDS)
        print(write_wheel(Path(cache), options.out))


def compile_kernels(more: Iterable[str]) -> None:
    """Run the commands in this process, so that their machine code is in the cache."""
    from swvp import baseline
    from swvp.cli.warmup import COMMANDS, run_quietly, write_examples

    baseline.installed_folder = lambda: None  # with an installed wheel nothing would be compiled
    second = (command + (" --order 2" if "train" in command else "") for command in COMMANDS["parser"])
    with tempfile.TemporaryDirectory() as folder:
        write_examples(Path(folder))
        for command in (*COMMANDS["tagger"], *COMMANDS["parser"], *second, *COMMANDS["pipeline"], *more):
            print(command, file=sys.stderr)
            run_quietly(command, Path(folder))


def write_wheel(cache: Path, out: Path) -> Path:
    """Write a wheel with the files of a cache that was made with the settings above; return its path."""
    from swvp import __version__
    from swvp.baseline import MANIFEST, PACKAGE, expected_manifest
    from swvp.compiled import fingerprint

    manifest = {**expected_manifest(fingerprint()), "machine": machine(), "swvp": __version__}
    contents = {f"{PACKAGE}/{name}": path.read_bytes() for name, path in sorted(code_files(cache).items())}
    contents[f"{PACKAGE}/{MANIFEST}"] = json.dumps(manifest, indent=1).encode()
    contents[f"{PACKAGE}/__init__.py"] = b'"""Machine code for swvp, which finds it here: see manifest.json."""\n'
    tag = wheel_tag()
    information = f"{PACKAGE}-{__version__}.dist-info"
    contents[f"{information}/METADATA"] = METADATA.format(**manifest | {"version": __version__}).encode()
    contents[f"{information}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: swvp\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    contents[f"{information}/RECORD"] = record(contents, f"{information}/RECORD")
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"{PACKAGE}-{__version__}-{tag}.whl"
    unfinished = target.with_suffix(".new")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name)  # with a fixed date
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    unfinished.replace(target)
    return target


def code_files(cache: Path) -> dict[str, Path]:
    """The files of a cache by their names in the package."""
    import swvp
    from swvp.cache import CacheFolder, installed_name

    files = {}
    package = Path(swvp.__file__).parent
    for source in package.rglob("*.py"):
        module = ".".join(source.relative_to(package.parent).with_suffix("").parts)
        folder = cache / CacheFolder.get_suitable_cache_subpath(str(source))
        files |= {installed_name(module, path.name): path for path in folder.glob("*.code")}
    return files


def machine() -> list[str]:
    """What Numba calls the machine that it compiles for, with the settings above: system, processor, features."""
    from numba.core.registry import cpu_target

    described = list(cpu_target.target_context.codegen().magic_tuple())
    if described[1:] != ["generic", ""]:
        raise SystemExit(f"Numba compiles for {described[1]}, not for a generic processor: was it imported too early?")
    return described


def wheel_tag() -> str:
    """The tag of wheels for this Python and platform, as cp311-cp311-linux_x86_64."""
    python = f"{sys.implementation.name[0]}p{sys.version_info[0]}{sys.version_info[1]}"
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}{getattr(sys, 'abiflags', '')}-{system}"


def record(contents: dict[str, bytes], own_name: str) -> bytes:
    """The list of files with checksums that a wheel has to contain."""
    lines = []
    for name, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}")
    return "\n".join([*lines, f"{own_name},,\n"]).encode()


if __name__ == "__main__":
    main()
