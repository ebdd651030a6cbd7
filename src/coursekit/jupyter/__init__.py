"""A JupyterHub for the course, kernels, and links to labs."""
