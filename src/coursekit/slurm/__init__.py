"""Clusters and their Slurm: the sites' profiles, job scripts, and the doctor."""
