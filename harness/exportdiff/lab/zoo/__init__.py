"""The zoo: real models, and what each does along the paths that people deploy.

``families`` and ``sources`` give the models, ``record`` keeps the results in a table.
"""
