"""A private Slurm on loopback, shaped like a site, to rehearse the site's job scripts."""
