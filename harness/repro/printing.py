"""How to show that export or lowering prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.repro.table import Parts

if TYPE_CHECKING:
    from harness.findings import Finding

_MAIN = """\
    model, $unpack = $make
%(before)s    printed = io.StringIO()
    with contextlib.suppress(Exception), contextlib.redirect_%(stream)s(printed):
        %(stage)s
    text = printed.getvalue().strip()
    print(f"BUG: it prints {text[:80]!r}" if text else "ok: nothing is printed")
    sys.exit(bool(text))
"""


def write(finding: Finding) -> Parts | None:
    """Write down findings of the purity check about prints."""
    if finding.check != "purity" or finding.signature[3:4] != ("prints",):
        return None
    stream = "stdout" if finding.signature[4] == "standard output" else "stderr"
    if finding.stage == "export":
        return Parts([], _MAIN % {"before": "", "stage": "$export", "stream": stream})
    return Parts([], _MAIN % {"before": "    ep = $export\n", "stage": "$lower", "stream": stream})
