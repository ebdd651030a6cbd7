"""The lecture: Markdown decks with figures that code draws from recorded runs, rendered to HTML and PDF."""
