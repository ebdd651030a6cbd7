"""Benchmarks of the kit: `workshop bench` measures what the documentation claims."""
