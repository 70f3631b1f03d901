"""How people and other programs use exportdiff from Python, pytest and files.

``checking`` judges one model for its owner; ``reports`` turns events and verdicts into text, HTML, XML and
JSON. It knows no command-line option, and judges nothing by itself.
"""
