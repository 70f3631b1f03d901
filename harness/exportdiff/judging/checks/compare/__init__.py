"""Comparing what two paths observed: leaves, calls, failures, groups of names."""
