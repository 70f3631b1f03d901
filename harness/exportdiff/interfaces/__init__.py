"""How people and other programs use exportdiff from Python, from pytest, and through files.

``checking`` judges one model for its owner; ``reports`` turns the events of a campaign, or the report on one
model, into text, HTML, XML and JSON. It does not know the options of commands, and has no checks.
"""
