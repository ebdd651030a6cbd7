"""For the authors of the kit: what tests its tests, measures it, and makes its lecture and its book."""
