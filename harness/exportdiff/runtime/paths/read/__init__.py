"""Reading exported programs, unflattened modules and eager models into plain data."""
