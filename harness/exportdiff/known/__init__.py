"""The known bugs of torch: the files and fixes of the corpus, and which of them explain a finding.

``corpus`` reads and verifies files, ``attribution`` explains findings, ``upstream`` writes reports and
patches for PyTorch. It does not know campaigns, or how a result is shown to people.
"""
