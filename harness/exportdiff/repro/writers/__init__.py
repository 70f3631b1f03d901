"""One writer for each check: what a repro file needs to show the evidence of that check.

``table`` chooses the writer of a finding.
"""
