"""Owns reading lists of values from options: "1,2,3" and "0.5:5:0.5"."""

from __future__ import annotations

from swvp.errors import InputError

__all__ = ["floats", "integers", "names"]


def names(text: str | None) -> tuple[str, ...] | None:
    """The parts between commas; None stays None.

    >>> names("csp, a-wm")
    ('csp', 'a-wm')
    """
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())


def integers(option: str, text: str | None) -> tuple[int, ...] | None:
    """Whole numbers between commas."""
    try:
        return None if text is None else tuple(int(part) for part in names(text) or ())
    except ValueError:
        raise InputError(f"--{option} takes whole numbers between commas, not '{text}'") from None


def floats(option: str, text: str | None) -> tuple[float, ...] | None:
    """Numbers between commas, or FIRST:LAST:STEP.

    >>> floats("betas", "0.5:2:0.5")
    (0.5, 1.0, 1.5, 2.0)
    """
    if text is None:
        return None
    try:
        if ":" not in text:
            return tuple(float(part) for part in names(text) or ())
        first, last, step = (float(part) for part in text.split(":"))
        count = int((last - first) / step + 1e-9) + 1
        if not 1 <= count <= 10_000:
            raise ValueError
        return tuple(round(first + step * k, 10) for k in range(count))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InputError(f"--{option} takes numbers between commas, or FIRST:LAST:STEP, not '{text}'") from None
