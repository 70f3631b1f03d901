"""The torch of another environment: its interpreter runs exportdiff's code in separate processes.

This side asks (``connection``), the other side answers (``server``, ``judging``). They exchange plain data.
"""
