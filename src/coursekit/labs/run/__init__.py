"""Execute solved labs with papermill, and report how they went."""
