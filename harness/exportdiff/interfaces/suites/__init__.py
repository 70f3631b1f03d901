"""Judges the exports that a test suite makes, next to the suite.

``recorder.py`` sees each call of an API of ``apis.py`` and copies the process. The copy judges the call
(``judging.py``) and writes the result to a folder (``journal.py``). ``tally.py`` reads the folder at the end.
"""
