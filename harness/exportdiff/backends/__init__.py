"""Backends that come with exportdiff: each is one file, declared in the entry points of pyproject.toml.

Nothing imports them before a path names them. What a backend needs is an extra of the package.
"""
