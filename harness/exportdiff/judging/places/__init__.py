"""Finds the first place at which a path does something else than eager, from logs of all operators."""
