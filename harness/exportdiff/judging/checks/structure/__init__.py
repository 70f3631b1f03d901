"""The check ``structure``: modules, calls and graphs are those of eager."""
