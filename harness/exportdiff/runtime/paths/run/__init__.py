"""Runs a case along paths: eagerly, exported, compiled, or in a pipeline. Returns an observation for each."""
