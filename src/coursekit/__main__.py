"""Run the command `coursekit` as `python -m coursekit`."""

from coursekit.cli import main

main()
