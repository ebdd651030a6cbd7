"""Drivers run in the answer's process: they call the answer and return plain data, without knowing the right result.

In a notebook, the answer runs in the same process or on its ranks. In grading, it runs in a sandbox without
`coursekit.checks`, so it cannot read what a check expects.
"""
