"""The kit's programs within the walls: they run students' code, and hold nothing that a student must not know."""
