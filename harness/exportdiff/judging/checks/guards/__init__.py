"""The guards check: calls that deviate from what was exported are refused or answered rightly."""
