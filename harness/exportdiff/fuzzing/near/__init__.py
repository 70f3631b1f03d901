"""Programs near known bugs, for ``fuzz --near``: corpus files with a few edits.

A change of a program that shows one bug often shows another. The known bug itself is mended when a program is
judged, so that what is left is new. A program is text, as in ``around/``.
"""
