"""What the fork server imports for the zoo: importing it takes seconds, and each model has its own process.

Only imports run here: all children would share the state that anything else left.
"""

import importlib
from contextlib import suppress

MODULES = (
    "transformers.modeling_utils",
    "transformers.modeling_layers",
    "transformers.masking_utils",
    "transformers.integrations.sdpa_attention",
)

for name in MODULES:
    # It is optional, and its modules differ between versions; without one a child is only slower.
    with suppress(ImportError):
        importlib.import_module(name)
