"""JupyterHub for a class: a demo on one machine, and servers on the nodes of a site."""
