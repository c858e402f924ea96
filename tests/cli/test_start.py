"""Commands start fast: what they import, and how they convert the values of options."""

import json
import os
import subprocess
import sys

import numba
import pytest
import typer
from typer.main import get_command

from swvp.cli import app
from swvp.cli.options import PlainValue, in_plain_words
from swvp.cli.warmup import write_examples

PROGRAM = """
import json, sys
from swvp.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)))
"""
NOT_NEEDED = {
    "pydantic",
    "rich",
    "sklearn",
    "scipy.linalg",
    "scipy.sparse",
    "numba.np.arraymath",  # all that Numba can compile
    "swvp.parsing.parser",
    "swvp.studies",
}


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_prediction_with_cached_code_imports_only_what_it_needs(tmp_path):
    write_examples(tmp_path)

    def run(command):
        program = [sys.executable, "-c", PROGRAM, *command.split()]
        done = subprocess.run(program, cwd=tmp_path, env=os.environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return set(json.loads(done.stdout.splitlines()[-1]))

    run("train tagger chunks.txt --epochs 1 -m a.swvp")
    run("predict a.swvp chunks.txt -o out.txt")
    assert run("predict a.swvp chunks.txt -o out.txt") & NOT_NEEDED == set()


VALUES = [None, "", "text", "3", "-1", "0", "٣", "1.5", "true", 3, 2.5, True]
LISTS = [None, (), ("a", "b"), ("1",), ["a"]]
COMMAND = get_command(app)


def outcome(convert, param, value):
    """The value that a conversion returns with its type, or its message in plain words."""
    try:
        converted = convert(value, param=param, ctx=typer.Context(COMMAND))
    except typer.BadParameter as error:
        return in_plain_words(error, param.type_descriptor.annotation)
    return type(converted) if converted == [] else (type(converted), converted)


def params():
    commands = [COMMAND, *COMMAND.commands.values(), *COMMAND.commands["train"].commands.values()]
    return [param for command in commands for param in command.params]


CONVERTS_WITH_PYDANTIC = hasattr(params()[0], "get_runtime_param")


@pytest.mark.skipif(not CONVERTS_WITH_PYDANTIC, reason="this typer converts without pydantic")
@pytest.mark.parametrize("param", params(), ids=lambda param: param.name)
def test_plain_values_are_converted_as_typer_does_it(param):
    for value in LISTS if param.multiple or param.nargs == -1 else VALUES:
        expected = outcome(param.get_runtime_param().coerce, param, value)
        assert outcome(PlainValue().coerce, param, value) == expected, value


@pytest.mark.skipif(not CONVERTS_WITH_PYDANTIC, reason="this typer converts without pydantic")
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("epochs", "ten", "must be a whole number"), ("C", "much", "must be a number")],
)
def test_messages_on_values_are_in_plain_words(name, value, message):
    param = next(param for param in params() if param.name == name)
    with pytest.raises(typer.BadParameter) as error:
        PlainValue().coerce(value, param=param, ctx=typer.Context(COMMAND))
    assert error.value.message == message
