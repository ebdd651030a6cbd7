"""What a lab is, how it is built from its solution, and how it is executed."""
