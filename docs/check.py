"""Build the documentation without warnings and run its commands: `python docs/check.py`, as CI does."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    build = ["-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "build/html"]
    for command in (build, ["docs/run_examples.py", *sys.argv[1:]]):
        subprocess.run([sys.executable, *command], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
