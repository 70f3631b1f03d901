"""The engine: many programs on many processes, as one stream of events."""
