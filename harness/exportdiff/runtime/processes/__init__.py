"""Child processes: forked with torch imported, limited in time, ended with all that they started.

``server`` starts the fork server, ``child`` one process; ``calls``, ``pool`` and ``script`` run functions and
files in such processes.
"""
