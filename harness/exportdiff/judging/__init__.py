"""Compares observations: the checks, what PyTorch documents, and the verdict on one case.

``verdict.judge`` is the way in: it runs a case eagerly and along paths, and returns findings. It does not
know how a path runs a model, and it does not know the corpus: a finding may well be a known bug.
"""
