"""Exemptions: what is different from eager and still no finding, each with its source.

A *refusal* (``refusals``): torch says that it does not take the model, or not this call. A *limit*
(``limits``): torch runs the model, and documents that it does not do as eager does. What a path does not even
promise is not compared: see ``not_promised`` of a transform or a runner, and ``PROMISED_DEVIATIONS``.
docs/reference/what-does-not-count.md has all of them in one table.
"""
