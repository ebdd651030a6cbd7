"""The course as a book: a static site to read offline, built from the existing pages, labs and decks."""
