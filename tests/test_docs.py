"""Everything that the documentation shows runs, and its promises about the public names hold."""

import ast
import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import swvp
from swvp._names import MOVED
from swvp.features import presets
from swvp.features.templates import FUNCTIONS
from swvp.io.files import FORMATS

ROOT = Path(__file__).parent.parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = [module.name for module in pkgutil.walk_packages(swvp.__path__, "swvp.") if module.name != "swvp.__main__"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PUBLIC = [
    "swvp",
    "swvp.cluster",
    "swvp.evaluation",
    "swvp.features",
    "swvp.io",
    "swvp.plots",
    "swvp.rules",
    "swvp.structures",
    "swvp.studies",
    "swvp.theory",
    "swvp.tracing",
]


def run_examples():
    spec = importlib.util.spec_from_file_location("run_examples", ROOT / "docs" / "run_examples.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


EXAMPLES = run_examples()


@pytest.fixture(autouse=True)
def registries_stay_as_they_are():
    """Examples may register functions, presets, formats and rules; take them out of the registries again."""
    registries = [FUNCTIONS, *presets.PRESETS.values(), FORMATS]
    before = [dict(registry) for registry in registries]
    yield
    for registry, rows in zip(registries, before, strict=True):
        registry.clear()
        registry.update(rows)


def relative(path):
    return str(path.relative_to(ROOT))


# ---------------------------------------------------------------- what is shown runs


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_run(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_examples_of_a_page_run(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert doctest.testfile(str(page), module_relative=False, optionflags=FLAGS).failed == 0


def has_commands(page):
    blocks = EXAMPLES.blocks(page.read_text(encoding="utf-8"))
    return any(block.language == "console" and not block.needs and not block.never for block in blocks)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if has_commands(page)], ids=relative)
def test_commands_of_a_page_print_what_it_shows(page):
    assert EXAMPLES.run(page) == []


def test_an_ellipsis_stands_for_lines_and_for_characters():
    shown = ["epoch  wrong  seconds", "    1     12      0.5", "…", "saved … MB"]
    assert EXAMPLES.matches(shown, ["epoch  wrong  seconds", "    1     12      9.9   0:07", "a", "b", "saved 7.8 MB"])
    assert not EXAMPLES.matches(shown, ["epoch  wrong  seconds", "    1     13      0.5", "a", "saved 7.8 MB"])
    assert not EXAMPLES.matches(["89.23"], ["89.24"])


def test_new_output_is_cut_where_the_old_one_was():
    printed = ["a", "b", "c", "d"]
    assert EXAMPLES.shortened(["1", "…", "4"], printed) == ["a", "…", "d"]
    assert EXAMPLES.shortened(["1", "2"], printed) == printed
    table = ["title", *(f"row {number}" for number in range(9)), "epoch 12 UAS 89.3", "end"]
    assert EXAMPLES.shortened(["…", "epoch 9 UAS 89.1", "…"], table) == ["…", "epoch 12 UAS 89.3", "…"]


def test_an_update_keeps_lines_of_which_only_the_time_differs():
    shown, printed = ["1  12  0.5   0:07", "2  11  0.5"], ["1  12  9.9   0:31", "2  10  0.6"]
    assert EXAMPLES.rewritten(shown, printed) == [shown[0], printed[1]]


def test_comments_before_a_block_say_how_it_is_run(tmp_path):
    page = tmp_path / "page.md"
    text = "<!-- before: echo 1 > number -->\n\n```console\n$ cat number\n1\n```\n"
    page.write_text(text + "<!-- not run: slow -->\n\n```console\n$ false\n1\n```\n", encoding="utf-8")
    assert EXAMPLES.run(page) == []
    page.write_text(text + "<!-- needs: corpus -->\n\n```console\n$ cat words\nAnn\n```\n", encoding="utf-8")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "words").write_text("Ann\n", encoding="utf-8")
    assert EXAMPLES.run(page) == EXAMPLES.run(page, corpora=tmp_path) == []


def test_update_rewrites_output_and_nothing_else(tmp_path):
    page = tmp_path / "page.md"
    before = "Text.\n\n```text\n# file: words.txt\nAnn\n```\n\n```console\n$ cat words.txt\n{}\n$ true\n```\n"
    page.write_text(before.format("Bo\n"), encoding="utf-8")
    assert len(EXAMPLES.run(page)) == 1
    EXAMPLES.run(page, update=True)
    assert page.read_text(encoding="utf-8") == before.format("Ann\n")
    assert EXAMPLES.run(page) == []


@pytest.mark.slow
def test_the_site_is_built_without_warnings(tmp_path):
    for name in ("furo", "latex2mathml", "myst_parser", "sphinx"):
        pytest.importorskip(name)
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", "docs", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert built.stderr == ""
    assert "<math" in (tmp_path / "explanation" / "algorithm.html").read_text(encoding="utf-8")


def test_the_site_needs_no_network():
    """Formulas are MathML and the theme ships its files, so that no page asks another host for anything."""
    source = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    assert "mathjax" not in source
    assert "https://" not in source


# ---------------------------------------------------------------- pages agree with the code


@pytest.mark.parametrize("page", [*PAGES, ROOT / "SECURITY.md"], ids=relative)
def test_files_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    names = re.findall(r"`((?:\w+/)+[\w.]*\w\.(?:py|md|json))`", text)
    places = (ROOT, ROOT / "src" / "swvp", ROOT / "src" / "swvp" / "structures" / "tree")
    assert [name for name in names if not any((place / name).exists() for place in places)] == []


def test_names_of_the_architecture_are_in_the_files_it_gives():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    places = re.findall(r"`([\w/]+\.py)`: ((?:`[\w.]+`(?:, | and )?)+)", text)
    assert len(places) > 5
    for file, names in places:
        source = (ROOT / "src" / "swvp" / file).read_text(encoding="utf-8")
        assert [name for name in re.findall(r"(\w+)`", names) if name not in source] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "SECURITY.md"], ids=relative)
def test_links_of_a_page_lead_to_files(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_fits_on_two_screens_and_has_the_two_commands():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 90
    assert "    pip install . && swvp experiment synthetic" in lines
    assert "    pip install '.[dev]' && pytest" in lines


# ---------------------------------------------------------------- public names


def imported(source):
    """Yield (module, name) for each import of swvp in a Python source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if alias.name.split(".")[0] == "swvp")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "swvp":
            yield from ((node.module, alias.name) for alias in node.names)


def is_public(module, name):
    return module in PUBLIC and (name is None or name in getattr(importlib.import_module(module), "__all__", ()))


def sources(page):
    """Return the Python code of a page (doctests and blocks) or of a Python file."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".py":
        return [text]
    examples = doctest.DocTestParser().get_examples(text)
    blocks = (block.body for block in EXAMPLES.blocks(text) if block.language in ("python", "py"))
    return ["".join(example.source for example in examples), *(body for body in blocks if not body.startswith(">>>"))]


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "examples").glob("*.py"))], ids=relative)
def test_pages_and_examples_import_public_names_only(page):
    used = [(module, name) for source in sources(page) for module, name in imported(source)]
    private = [f"{module}.{name}" if name else module for module, name in used if not is_public(module, name)]
    assert private == []


def public_callables():
    """Return each public function and class once, by its shortest name."""
    names = {}
    for module in sorted(PUBLIC, key=len):
        for name in getattr(importlib.import_module(module), "__all__", ()):
            value = getattr(importlib.import_module(module), name)
            if callable(value) and value not in names.values():
                names[f"{module}.{name}"] = value
    return names


CALLABLES = public_callables()


def documented_parameters(text):
    """Return the names in the section "Parameters" (or, of a class that holds results, "Attributes")."""
    pattern = r"^(?:Parameters|Attributes)\n-{10}\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)"
    section = re.search(pattern, text, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: ?:.*)?$", section[1], re.MULTILINE) if section else []
    return [name.strip("* ") for row in rows for name in row.split(",")]


def documents_its_parameters(value):
    text = inspect.getdoc(value) or ""
    if isinstance(value, type) and issubclass(value, Exception):
        return bool(text)
    parameters = [name for name in inspect.signature(value).parameters if name not in ("args", "kwargs")]
    return bool(text) and documented_parameters(text) == parameters


@pytest.mark.parametrize("name", sorted(CALLABLES))
def test_a_public_name_documents_the_parameters_of_its_signature(name):
    assert documents_its_parameters(CALLABLES[name])


@pytest.mark.parametrize("name", MOVED)
def test_a_module_of_an_earlier_version_says_where_its_names_are(name):
    with pytest.raises(ModuleNotFoundError, match=f"{name} has moved: import from swvp"):
        importlib.import_module(name)
