"""Child processes: forked with torch imported, limited in time, ended with all that they started.

``server`` starts the fork server, ``child`` one process. ``in_child`` runs functions in such processes,
``script`` runs files. ``executor`` shares tasks out to worker slots, here or on a cluster.
"""
