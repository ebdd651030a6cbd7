"""Decide points reliably: a student's cells run in a sandbox; the instructor's tests run outside, on plain data."""
