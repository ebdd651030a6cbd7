"""Benchmarks of the kit: `coursekit bench` measures what the documentation claims."""
