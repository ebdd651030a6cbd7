"""A JupyterHub for the course, kernels, links to labs."""
