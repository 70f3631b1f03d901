"""What only a GPU can answer: ``exportdiff bench --only gpu``.

``sections`` lists the questions. One entry adds one.
"""
