"""Reports: text, HTML, XML and JSON about campaigns and models.

A report of a campaign is a class that takes each event and writes one thing, or a function of a finished
``CampaignReport``. The campaign does not know them.
"""
