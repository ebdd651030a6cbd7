"""Attacks on the grader: hostile submissions, each with the points that it must get and its flags."""
