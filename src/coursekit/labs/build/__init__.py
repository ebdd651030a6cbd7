"""From authored notebooks in `solutions/` to executable sources in `build/source/` and students' labs in `labs/`."""
