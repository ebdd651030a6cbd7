"""The lecture: decks of Markdown, figures made by code from recorded runs, rendered to HTML and PDF."""
