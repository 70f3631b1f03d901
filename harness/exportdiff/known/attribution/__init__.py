"""Which known bug explains a finding: by judging again with fixes in place, or by resemblance.

It changes no corpus file, and reports nothing to people.
"""
