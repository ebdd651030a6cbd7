"""Banks of answers that the tests of a lab must tell apart, mutants of its solution, and their points."""
