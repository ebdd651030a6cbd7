"""The kit's programs inside the sandbox: they run students' code, and hold nothing that a student must not know."""
