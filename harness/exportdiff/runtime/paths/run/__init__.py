"""Running a case: eagerly, exported, compiled, in a pipeline."""
