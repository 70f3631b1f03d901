"""Judges one model of a user: eager against what export makes of it.

``in_subprocess`` judges in child processes, for commands; ``in_process`` judges in this process, for Python
and pytest. Both return a ``Report`` (``report``): plain data that can be printed without torch.
"""
