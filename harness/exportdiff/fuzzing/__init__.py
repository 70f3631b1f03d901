"""Judges many programs, and makes the programs of findings small.

A campaign yields events; ``around`` and the strategies give it programs, ``other_torch`` asks another
version of torch. It does not know who listens to its events: no console, no file for people, no command.
"""
