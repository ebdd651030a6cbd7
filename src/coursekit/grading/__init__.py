"""Grade submissions: a student's code runs in a sandbox, and the judge that decides the points runs outside."""
