"""Functions that are copied into repro files as text. They import only torch, and nothing of exportdiff."""
