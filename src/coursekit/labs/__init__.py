"""Labs: their definition, how they are built from their solutions, and how they are executed."""
