"""Attacks on the grader: hostile submissions, each with the points and the flags that it must get."""
