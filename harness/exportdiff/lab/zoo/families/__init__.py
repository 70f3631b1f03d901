"""The families of transformers, a table for each sort of input; ``FAMILIES`` has all of them."""

from __future__ import annotations

from exportdiff.lab.zoo.families import audio, decoders, encoders, pairs, vision

FAMILIES = (
    *decoders.FAMILIES,
    *encoders.FAMILIES,
    *pairs.FAMILIES,
    *vision.FAMILIES,
    *audio.FAMILIES,
)
