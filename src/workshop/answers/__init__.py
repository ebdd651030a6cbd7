"""Points of executed notebooks, and banks of answers that the tests of a lab must tell apart."""
