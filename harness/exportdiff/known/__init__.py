"""The corpus of known bugs: its entries, and the search for the entries that explain a finding."""
