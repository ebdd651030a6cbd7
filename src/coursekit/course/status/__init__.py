"""Show where a class stands, as tables in the terminal and as an HTML page with the same data."""
