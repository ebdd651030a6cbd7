"""Words that the kit's texts should not use, and a check that finds them."""
