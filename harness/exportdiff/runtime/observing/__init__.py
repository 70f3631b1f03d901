"""Everything seen while a model runs, as plain data."""
