"""The check ``guards``: a call that leaves what was exported is refused, or answered as eager does."""
