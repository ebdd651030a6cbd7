"""A private Slurm on loopback, shaped like a site, and the rehearsal of its job scripts on it."""
