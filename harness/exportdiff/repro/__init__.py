"""Turns a finding and its program into a repro file: a script that needs only torch, and shows this finding.

``writers`` has one writer for each check; ``templates`` has the functions that repro files contain. This
package does not know how a finding was found, or whether it is a known bug.
"""

from exportdiff.repro.parts import NoReproError
from exportdiff.repro.program import MODULES
from exportdiff.repro.source import NeededFixes, repro_source

__all__ = ["MODULES", "NeededFixes", "NoReproError", "repro_source"]
