"""Read the part of a hand-in that is judged, the text of its answers, from a file that is not trusted."""
