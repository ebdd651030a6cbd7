"""Machines and their Slurm: what a site is, its job scripts, and the doctor."""
