"""The words that every part uses, as plain data: Case, Path, Finding, errors, and the text of programs.

Only ``programs`` imports the strategies. Nothing here runs a model, patches torch or knows what a path does.
"""
