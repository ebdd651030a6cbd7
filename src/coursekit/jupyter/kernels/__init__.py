"""Kernels for a centre's own JupyterHub: the site's software and the course's environment, started as its jobs are."""
