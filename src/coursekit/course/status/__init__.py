"""Where a class stands: one model, shown as tables in the terminal and as a page."""
