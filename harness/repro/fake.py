"""How to show a fake tensor that predicted something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.repro.looks import FACTS
from harness.repro.table import Parts

if TYPE_CHECKING:
    from harness.findings import Finding

_LOOK = """\
class Compare(torch.fx.Interpreter):
    \"\"\"Runs a graph; compares the %(word)s of each node with what its fake tensor said.\"\"\"

    def run_node(self, node):
        result = super().run_node(node)
        fake = node.meta.get("val")
        if node.op == "call_function" and isinstance(result, torch.Tensor):
            told, seen = (
                %(fact)s
                for t in (fake, result)
            )
            # A symbol stands for any size.
            if [b if isinstance(a, torch.SymInt) else a for a, b in zip(told, seen, strict=False)] != seen:
                wrong.append(f"%(word)s of {node.name} is {seen}, predicted was {told}")
        return result
"""

_MAIN = """\
    model, $unpack = $make
    ep = $export
    candidate = $lower
    $unpack = $inputs
    wrong = []
    Compare(candidate).run(*torch.utils._pytree.tree_leaves(($unpack,)), enable_io_processing=False)
    print(f"BUG: {wrong[0]}" if wrong else "ok: every node is what its fake tensor predicted")
    sys.exit(bool(wrong))
"""


def write(finding: Finding) -> Parts | None:
    """Write down findings of the fake check."""
    if finding.check != "fake":
        return None
    word = finding.signature[2]
    fact = FACTS[word] if word in ("shape", "stride") else f"[{FACTS[word]}]"
    return Parts([_LOOK % {"word": word, "fact": fact}], _MAIN)
