"""Ordinary models, and what people do with what export returns: no fix may refuse any of it."""
