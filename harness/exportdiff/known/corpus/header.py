"""The header of a corpus file: inline script metadata, which says what Python and torch the file needs."""

from __future__ import annotations

import re

HEADER = re.compile(r"^# /// script\n(?P<toml>(#( .*)?\n)+?)# ///$", re.MULTILINE)
