"""Banks of answers that the tests of a lab must tell apart, and mutants of its solution."""
