"""What of a hand-in is judged: its answers' text, read from a file that nobody trusts."""
