"""Isolate code that nobody has read yet: limit what it sees and uses, and make sure that it ends."""
