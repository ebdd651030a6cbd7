"""What is shown and measured: the lecture, and the benchmarks."""
