"""From a hand-in to a verdict: the student's code behind walls, the judge outside, and what tests both."""
