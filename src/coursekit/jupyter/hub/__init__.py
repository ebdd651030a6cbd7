"""JupyterHub for a class: a demo on one machine, or servers on the nodes of a site."""
