"""Reads exported programs, unflattened modules and eager models into plain data, without running them."""
