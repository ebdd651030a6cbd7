"""The words that the kit's texts do not use, and where a text uses one."""
