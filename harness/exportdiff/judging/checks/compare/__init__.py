"""What several checks share: comparing leaves, calls, failures and groups of names."""
