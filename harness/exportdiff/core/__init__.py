"""Plain data that all packages use: Case, Path, Finding, errors, and the text of programs.

Only ``programs`` imports the strategies. This package does not run models, patch torch or know what a path
does.
"""
