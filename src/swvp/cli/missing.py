"""Owns what is said where a command lacks arguments or options: all of them at once."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

__all__ = ["Command"]


class Command(TyperCommand):
    """A command that names everything that is missing, not only the first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if type(error).__name__ != "MissingParameter":
                raise
            values, _, _ = self.make_parser(ctx).parse_args(args=given)
            missing = [param for param in self.get_params(ctx) if param.required and not values.get(param.name or "")]
            if len(missing) < 2:
                raise
            return ctx.fail(f"Missing {' and '.join(map(hint, missing))}.")  # type: ignore[no-any-return]


def hint(param: Any) -> str:
    """An argument or option as messages name it."""
    names = param.opts if param.param_type_name == "option" else [param.metavar or str(param.name).upper()]
    return f"{param.param_type_name} " + " / ".join(f"'{name}'" for name in names)
