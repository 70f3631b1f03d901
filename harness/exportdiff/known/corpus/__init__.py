"""The files of the corpus and their fixes: what is written in them, and whether it is true on this torch.

It runs corpus files and tries fixes. It does not know findings of a campaign; that is ``known.attribution``.
"""
