"""Jobs: their scripts for every site, submitting and following them, and why they wait or fail."""
