"""Imports point downwards only, and the library works without a terminal."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import swvp

SOURCE = Path(swvp.__file__).parent
LAYERS = [
    [
        "_version",
        "_names",
        "errors",
        "types",
        "compile_events",
        "compiled",
        "baseline",
        "cache",
        "inner_code",
        "tables",
    ],
    ["io", "features"],
    ["user_code"],
    ["cluster"],
    ["structures"],
    ["learning"],
    ["tracing"],
    ["evaluation"],
    ["training"],
    ["parsing", "tagging"],
    ["estimators", "pipeline", "rules", "theory"],
    ["text"],
    ["bulk"],
    ["crfsuite"],
    ["studies"],
    ["plots"],
    ["serving"],
    ["cli"],
    ["__main__"],
]
"""From low to high; a name stands for a module or a package with all that is in it, the longest one counts."""

TERMINAL = ("typer", "rich", "click", "matplotlib", "jinja2")
DRAWS = ("swvp.cli", "swvp.studies", "swvp.plots", "swvp.__main__")


def modules():
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        yield path, ".".join(parts)


def layer(module):
    """The layer of a module; None for the lazy faces of packages."""
    name = module.removeprefix("swvp.")
    if module == "swvp" or name.endswith("__init__"):
        return None
    layers = {known: k for k, names in enumerate(LAYERS) for known in names}
    fitting = [known for known in layers if name == known or name.startswith(f"{known}.")]
    assert fitting, f"{module} has no layer"
    return layers[max(fitting, key=len)]


def imports(path):
    """The modules of swvp that a file imports, also in functions; not those for type checkers only."""

    def walk(node):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("swvp"):
            for alias in node.names:
                package = SOURCE.parent.joinpath(*node.module.split("."), alias.name)
                is_module = package.is_dir() or package.with_suffix(".py").exists()
                yield f"{node.module}.{alias.name}" if is_module else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("swvp"))
        for child in ast.iter_child_nodes(node):
            yield from walk(child)

    return walk(ast.parse(path.read_text()))


def test_no_module_imports_from_a_higher_layer():
    wrong = []
    for path, module in modules():
        here = layer(module)
        if here is None:
            continue
        for imported in imports(path):
            there = layer(imported)
            if there is not None and there > here:
                wrong.append(f"{module} imports {imported}")
    assert wrong == []


def test_only_commands_studies_and_plots_import_what_draws_and_prints():
    wrong = []
    for path, module in modules():
        if module.startswith(DRAWS):
            continue
        nodes = ast.walk(ast.parse(path.read_text()))
        names = {
            alias.name if isinstance(node, ast.Import) else node.module
            for node in nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        wrong += [f"{module} imports {name}" for name in names if name and name.split(".")[0] in TERMINAL]
    assert wrong == []


@pytest.mark.parametrize("name", TERMINAL)
def test_the_library_is_imported_without_what_draws_and_prints(loaded, name):
    assert name not in loaded


@pytest.fixture(scope="module")
def loaded():
    """The modules that are loaded in a new process after all of the library is imported."""
    library = [
        module.removesuffix(".__init__") for _, module in modules() if not module.startswith((*DRAWS, "swvp.serving"))
    ]
    program = f"import importlib, sys\nfor name in {library!r}: importlib.import_module(name)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())
