"""Run one event of the course: its roster, hand-ins, grades and feedback."""
