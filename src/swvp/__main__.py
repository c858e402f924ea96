"""`python -m swvp`, and the program `swvp`: also Ctrl-C while the command line is imported ends in one line."""

from __future__ import annotations

import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        from swvp.cli import main as run

        run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("swvp: stopped", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
