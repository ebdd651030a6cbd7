"""Read the text of a hand-in's answers, which is all that is judged, from files that are not trusted."""
