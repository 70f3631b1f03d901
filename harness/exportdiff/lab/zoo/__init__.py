"""The zoo: real models, what each does along the paths that people deploy, and how that is recorded."""
