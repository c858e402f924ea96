"""`python -m swvp`."""

from swvp.cli import main

main()
