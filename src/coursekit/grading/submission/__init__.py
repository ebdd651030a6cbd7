"""The part of a hand-in that is judged: the text of its answers, read from a file that nobody trusts."""
