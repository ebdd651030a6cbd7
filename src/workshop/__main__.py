"""`python -m workshop` runs the program `workshop`."""

from workshop.cli import main

main()
