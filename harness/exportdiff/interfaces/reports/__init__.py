"""Listeners: each takes the events of a campaign and writes one thing. The engine knows none of them."""

from __future__ import annotations

from collections.abc import Callable

from exportdiff.fuzzing.campaign.events import Event

Listener = Callable[[Event], None]
