"""Machines and their Slurm: what a site is, its job scripts, their rehearsal, and the doctor."""
