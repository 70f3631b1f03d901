"""How to show findings of the structure check: names, calls, modules and graphs."""
