"""The progress of a class: who is where in each lab, and what to explain again."""
