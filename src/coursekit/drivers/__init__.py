"""What checks do where the answer runs: they call it, and bring back plain data, without knowing what is right.

In a notebook that is the same process or its ranks; in grading it is a sandbox that holds nothing of
`coursekit.checks`, so no expectation can be read there.
"""
