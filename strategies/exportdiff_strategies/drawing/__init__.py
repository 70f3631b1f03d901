"""The strategies: statements, module classes, inputs and whole Programs, drawn with Hypothesis."""
