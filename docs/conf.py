"""Settings of the documentation site: `sphinx-build -W -b html docs build/html`, without a network."""

import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

import swvp
from swvp.cli import app as command_line_app

project = "swvp"
author = "the swvp authors"
release = version = swvp.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["deflist", "dollarmath", "colon_fence"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
exclude_patterns = ["data", "figures"]
# A word in backticks may be an attribute of several classes.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]

html_theme = "furo"
html_title = "swvp"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sourcelink = False
html_math_renderer = "mathml"
highlight_language = "none"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
ATTRIBUTES = "Its attributes"
COLON = "\ue000"  # no text has this character
napoleon_custom_sections = [ATTRIBUTES]


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula as MathML, which browsers render without a script."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_math_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def attributes_as_list(lines: list[str]) -> None:
    """Turn the section "Attributes" of a numpydoc docstring into a list, which needs no entries of the index."""
    if "Attributes" not in lines:
        return
    start = lines.index("Attributes")
    lines[start] = ATTRIBUTES
    for number in range(start + 2, len(lines)):
        match = re.fullmatch(r"(\w[\w\\, ]*?) ?: (.*)", lines[number])
        if number + 1 < len(lines) and lines[number + 1][:3] == "---":
            return
        if match:
            lines[number] = f"* ``{match[1].replace(chr(92), '')}`` ({match[2]}):"
        elif lines[number].startswith("    "):
            lines[number] = lines[number][2:]


def plain_text(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn `name` into a literal, and keep | and * of formulas from being read as reStructuredText."""
    for number, line in enumerate(lines):
        if what == "property":
            line = line.replace(": ", f"{COLON} ")  # else napoleon takes what is before it for a type
        if not line.lstrip().startswith(">>>"):
            line = re.sub(r"(?<![`:\w])`([^`\n]+)`(?![`_])", r"``\1``", line)
            line = re.sub(r"(?<![`\\*\w])([|*])(?=\w)|(?<=\w)([|*])(?=[\s,.;:)]|$)", r"\\\1\2", line)
            lines[number] = re.sub(r"(?<=\w)_(?=[\s,.;:)]|$)", r"\\_", line)
    attributes_as_list(lines)


def colons_back(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Undo what `plain_text` did to colons, after napoleon."""
    lines[:] = [line.replace(COLON, ":") for line in lines]


def short_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Leave out the memory addresses that default values may have in a signature."""
    if signature and " at 0x" in signature:
        signature = re.sub(r"<(\w+) ([\w.]+) at 0x[0-9a-f]+>", r"\2", signature)
    return signature, returns


PUBLIC = [
    "swvp",
    "swvp.rules",
    "swvp.theory",
    "swvp.tracing",
    "swvp.plots",
    "swvp.evaluation",
    "swvp.features",
    "swvp.io",
    "swvp.structures",
    "swvp.studies",
    "swvp.cluster",
]


class PublicNames(SphinxDirective):
    """Document the names in `__all__` of a module; a name that an earlier module has too is referred to."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = self.arguments[0]
        entries = []
        for name, value in sorted(public(module).items(), key=lambda item: (item[0].isupper(), item[0].lower())):
            home = next(place for place in PUBLIC if public(place).get(name) is value)
            entries.append(entry(module, name, value) if home == module else f"`{name}`: see `{home}.{name}`.\n")
        return self.parse_text_to_nodes("\n".join(entries) or "No public names yet.")


def public(module: str) -> dict[str, Any]:
    """Return the public names of a module, without its sub-modules."""
    found = importlib.import_module(module)
    values = {name: getattr(found, name) for name in getattr(found, "__all__", ())}
    return {name: value for name, value in values.items() if not inspect.ismodule(value)}


def entry(module: str, name: str, value: Any) -> str:
    """Return Markdown that documents one name."""
    if inspect.isclass(value):
        lines = f".. autoclass:: {module}.{name}\n   :members:\n   :inherited-members: Estimator,tuple,str,Exception"
    elif callable(value):
        lines = f".. autofunction:: {module}.{name}"
    else:
        items = ", ".join(f"``{item}``" for item in value if item)
        lines = f".. py:data:: {module}.{name}\n\n   A {type(value).__name__} of {items}."
    return f"```{{eval-rst}}\n{lines}\n```\n"


class CommandLine(SphinxDirective):
    """Document all commands of the program from their help texts."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        text = "\n".join(describe(self.arguments[0], typer.main.get_command(command_line_app)))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def describe(name: str, command: Any) -> Iterator[str]:
    """Yield Markdown for a command, or for the commands of a group."""
    if hasattr(command, "commands"):
        for short, inner in command.commands.items():
            yield from describe(f"{name} {short}", inner)
        return
    yield f"## {name}\n\n{in_markdown(command.help)}\n\n| option | meaning |\n|---|---|"
    for parameter in command.params:
        names = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
        if parameter.param_type_name == "argument":
            names = f"`{parameter.metavar or parameter.name.upper()}`"
        default = parameter.show_default if isinstance(parameter.show_default, str) else parameter.default
        hidden = default is None or default is False or default in ("", ()) or callable(default)
        shown = parameter.show_default and not hidden
        yield f"| {names} | {in_markdown(parameter.help)}{f' [{in_markdown(str(default))}]' if shown else ''} |"
    yield ""
    for examples, lines in itertools.groupby(filter(None, (command.epilog or "").splitlines()), is_example):
        text = "\n".join(lines).replace("\b", "")
        yield f"```text\n{textwrap.dedent(text)}\n```\n" if examples else f"{in_markdown(text)}\n"


def is_example(line: str) -> bool:
    return line.startswith("  ")


def in_markdown(text: str | None) -> str:
    """Escape what Markdown would read as markup, and set options as code."""
    text = re.sub(r"([|*<\[])", r"\\\1", (text or "").replace("\f", "").replace("\b", ""))
    return re.sub(r"(?<![\w`-])(--[\w-]+)", r"`\1`", text)


# Methods of public classes that only other modules of swvp call; they may change.
INTERNAL = re.compile(
    r"BETA|begin|check|finish|finish_labels|forget_text|longest_|model_class|new_others|options|predict_labels"
    r"|predict_trees|prepare|pruner_|pruning|ranks_|restore|restore_weights|search_is_bounded|start|start_labels"
    r"|trace_corpus|use_layout|use_one_thread|use_rule|use_threads"
)


def skip_member(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn and Python add to every class, and what only swvp calls."""
    if INTERNAL.fullmatch(name):
        return True
    inherited = re.fullmatch(r"set_\w+_request|get_metadata_routing|[gs]et_params|with_traceback|add_note", name)
    return True if inherited or str(obj.__doc__).startswith("Alias for field") else None


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.add_directive("public-names", PublicNames)
    app.add_directive("command-line", CommandLine)
    app.connect("autodoc-process-docstring", plain_text, priority=300)  # before napoleon
    app.connect("autodoc-process-docstring", colons_back, priority=900)
    app.connect("autodoc-process-signature", short_signature)
    app.connect("autodoc-skip-member", skip_member)
