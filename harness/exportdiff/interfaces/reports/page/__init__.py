"""The report of a campaign as one HTML file: page (what it says), figures (its plots), templates/."""
