"""Isolate code that nobody has read yet: limit what it can see and use, and make sure that it ends."""
