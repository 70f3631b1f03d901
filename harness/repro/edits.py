"""How to show that an edit of the state does not act as in eager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.inputs.edits import FACTOR
from harness.repro.parts import VERDICT
from harness.repro.table import Parts

if TYPE_CHECKING:
    from harness.findings import Finding

_LOOK = """\
def state(module):
    \"\"\"All parameters and buffers by name.\"\"\"
    named = [*module.named_parameters(remove_duplicate=False)]
    return dict([*named, *module.named_buffers(remove_duplicate=False)])


def look(out):
    \"\"\"The values of each output.\"\"\"
    leaves = [t for t in torch.utils._pytree.tree_leaves(out) if isinstance(t, torch.Tensor)]
    return {f"output {i}": f"{list(t.shape)} {t.tolist()}" for i, t in enumerate(leaves)}
"""

_MAIN = """\
    eager, $unpack = $make
    model, $unpack = $make
    ep = $export
    candidate = $lower
    names = {}
    for name, t in sorted(state(eager).items()):  # of several names of one tensor, the last
        if name in state(candidate) and t.is_floating_point():
            names[id(t)] = name
    for module in (eager, candidate):
        for name in names.values():
            state(module)[name].detach().mul_(%s)
    $unpack = $inputs
    expected = look(eager($star))
    $unpack = $inputs
    try:
        seen = look(candidate($star))
    except Exception as error:
        seen = {n: repr(error) for n in expected}
"""


def write(finding: Finding) -> Parts | None:
    """Write down findings of the sharing check about an edit."""
    if finding.check != "sharing" or finding.signature[2:3] != ("edit",):
        return None
    return Parts([_LOOK], _MAIN % FACTOR + VERDICT)
