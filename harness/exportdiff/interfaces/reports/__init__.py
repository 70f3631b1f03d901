"""Reports of campaigns and of checked models, in one file for each form.

Each report of a campaign takes its events one by one; ``tally`` counts for all of them. A campaign does not
know its reports.
"""
