"""What the corpus knows: entries, and which of them explains a finding."""
