"""One event of the course: its folder, roster, gradebook, hand-ins, feedback and grades, on top of nbgrader."""
