"""Functions whose text is pasted into repro files. They need only torch."""
