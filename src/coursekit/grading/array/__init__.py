"""Grading a class as a Slurm job array."""
