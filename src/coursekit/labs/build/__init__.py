"""Build executable sources in `build/source/` and students' labs in `labs/` from authored notebooks in `solutions/`."""
