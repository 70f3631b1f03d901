"""What differs between versions of torch: asked for by the name that a version has or lacks, not by number.

``has`` reads torch's sources and imports nothing, so that lists of paths and of switches need no torch.
``running`` imports torch: it holds what the harness does with private names that not every version has.
"""

from exportdiff.core.torch_versions.names import has, torch_version

__all__ = ["has", "torch_version"]
