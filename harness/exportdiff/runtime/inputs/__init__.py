"""Fresh copies of inputs, calls that deviate from what was exported, edits of the state."""
