"""What is read off an exported program and off what is made of it, without running it."""
