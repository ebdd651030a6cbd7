"""Decide points reliably: students' cells run in a sandbox; the instructor's tests run outside it, on plain data."""
