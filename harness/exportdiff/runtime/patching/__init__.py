"""Changes functions of torch while a ``with`` block runs: candidate fixes and planted faults.

``fixes`` reads patches and applies them, ``installed`` keeps them installed in a process, ``editing`` edits
one function. Whether a fix helps is not known here.
"""
