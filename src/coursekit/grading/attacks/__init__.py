"""Attacks on the grader: hostile hand-ins, each with what it must earn and what the instructor must see."""
