"""Execute the solved labs with papermill and report on them."""
