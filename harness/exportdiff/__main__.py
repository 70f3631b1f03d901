"""``python -m exportdiff`` is the command ``exportdiff``."""

import os
import sys

if __name__ == "__main__":
    # Python puts the current folder first, where a json.py of the user would replace that of Python.
    # Not pathlib: it would import a types.py of the user.
    if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(__file__)):  # noqa: PTH120
        del sys.path[0]

    from exportdiff.cli import main

    sys.exit(main())
