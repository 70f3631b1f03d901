"""A campaign: many programs on many processes, as one stream of events in the order of the programs.

``campaign`` is the whole, ``worker`` is what a worker process does, ``events`` has the events. What the
events are used for is not known here.
"""
