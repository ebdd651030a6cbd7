"""Read the text of a hand-in's answers from files that are not trusted; only this text is judged."""
