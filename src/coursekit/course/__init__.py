"""One event of the course: roster, hand-ins, grades, feedback."""
