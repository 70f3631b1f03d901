"""The source text of programs: its canonical form and its length."""
