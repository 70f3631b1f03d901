"""The benchmark: what a campaign costs, what it finds for that, and how both grow."""
