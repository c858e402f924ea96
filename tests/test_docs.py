"""Every example in the documentation runs."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import swvp

ROOT = Path(__file__).parent.parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = [module.name for module in pkgutil.walk_packages(swvp.__path__, "swvp.") if module.name != "swvp.__main__"]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_run(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_a_page_run(page):
    assert doctest.testfile(str(page), module_relative=False, optionflags=FLAGS).failed == 0
