"""Differences between versions of torch. They are detected by the names that a version has, not by its
number.

``has`` reads the sources of torch and does not import it, so that listing paths and switches is fast.
``running`` imports torch: it has the functions that use private names that not every version has.
"""

from exportdiff.core.torch_versions.content import digest_of_torch, torch_digest
from exportdiff.core.torch_versions.names import has, torch_build, torch_folder, torch_version

__all__ = ["digest_of_torch", "has", "torch_build", "torch_digest", "torch_folder", "torch_version"]
