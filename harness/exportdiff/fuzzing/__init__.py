"""Judges many programs, and makes the programs of findings small.

A campaign yields events. The strategies or ``around`` give it programs; ``other_torch`` asks another version
of torch. It does not know the console, the reports and the commands that use its events.
"""
