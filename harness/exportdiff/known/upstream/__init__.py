"""Bug reports and patch series for PyTorch, made from corpus entries.

It reads entries and runs their programs. It does not know how findings were found or explained.
"""
