"""One writer for each check: templates of what the check needs in a repro file, and when to use them."""
