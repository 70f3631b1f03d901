"""Listeners: each takes the events of a campaign and writes one thing. The engine knows none of them."""
