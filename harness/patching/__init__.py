"""Torch changed for the length of a with block."""
