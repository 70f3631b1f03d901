"""The benchmark: what a campaign costs, what it finds for that, and how both grow.

One file for each measurement; ``registry`` lists them.
"""
