"""From a hand-in to a verdict: the student's code in a sandbox, and the judge outside."""
