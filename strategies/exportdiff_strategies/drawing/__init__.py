"""The strategies: statements, module classes, inputs and whole Programs, drawn with Hypothesis.

``programs`` draws a Program, with a ``ClassBuilder`` (classes) for each class. ``draw_statements`` (bodies)
fills the bodies of methods: it draws the next statement in a ``Scope``, which knows the values in reach.
"""
