"""Build executable sources in `build/source/` and students' labs in `labs/` from the notebooks in `solutions/`."""
