"""The structure check: modules, calls and graphs are those of eager."""
