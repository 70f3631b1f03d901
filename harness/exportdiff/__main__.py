"""``python -m exportdiff`` is the command ``exportdiff``."""

import sys

from exportdiff.cli import main

if __name__ == "__main__":
    sys.exit(main())
