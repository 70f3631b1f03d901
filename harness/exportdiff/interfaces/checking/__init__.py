"""One model, judged for its owner: eager against the paths that people deploy.

``children`` judges in child processes, for commands; ``here`` judges in this process, for Python and pytest.
Both return a ``Report`` (``report``): plain data that needs no torch to be printed.
"""
