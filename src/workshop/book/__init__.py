"""The course as a book: one static site, offline, from what exists."""
