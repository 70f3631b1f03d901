"""Runs a case along paths and records what happens, in processes that cannot harm this one.

It gives observations: outputs, state, aliasing, gradients, graphs, errors. It does not know what is right: it
compares nothing, and knows no finding, no corpus and no campaign.
"""
