"""The course on a JupyterHub: the hub itself, kernels for a centre's own, links that open labs."""
