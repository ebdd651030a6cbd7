"""What an instructor sees after grading."""
