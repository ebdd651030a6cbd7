"""A JupyterHub for the course, and kernels for the JupyterHub of a computing centre."""
