"""Finds the known bugs that explain a finding: it judges again with fixes installed, or looks for
resemblance.

It does not change corpus files, and prints nothing.
"""
