"""Turns a finding and its program into a self-contained script that shows this one difference.

The script needs only torch. ``writers`` has one writer for each check; ``templates`` has the functions that
scripts contain. It does not know how a finding was found, or whether it is a known bug.
"""

from exportdiff.repro.parts import NoReproError
from exportdiff.repro.program import MODULES
from exportdiff.repro.source import NeededFixes, repro_source

__all__ = ["MODULES", "NeededFixes", "NoReproError", "repro_source"]
