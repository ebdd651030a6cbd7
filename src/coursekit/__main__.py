"""`python -m coursekit` is `coursekit`."""

from coursekit.cli import main

main()
