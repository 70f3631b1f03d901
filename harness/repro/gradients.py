"""How to show another gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.repro.parts import CALL_0, VERDICT
from harness.repro.table import Parts

if TYPE_CHECKING:
    from harness.findings import Finding

_LOOK = """\
def look(out, given, module):
    \"\"\"What flows back from all outputs, differently weighted, to parameters and inputs.\"\"\"
    outs = [t for t in torch.utils._pytree.tree_leaves(out) if isinstance(t, torch.Tensor)]
    outs = [t for t in outs if t.requires_grad]
    named = [(f"input {i}", t) for i, t in enumerate(torch.utils._pytree.tree_leaves(given))]
    for store in (module.named_parameters, module.named_buffers):
        named += [(re.sub(r"@\\d+", "", n), t) for n, t in store(remove_duplicate=False)]
    named = [(n, t) for n, t in named if isinstance(t, torch.Tensor) and t.requires_grad and t.is_leaf]
    weights = [(torch.arange(t.numel()) % 5 - 1).div(4).to(t).reshape(t.shape) for t in outs]
    try:
        flow = torch.autograd.grad(outs, [t for _, t in named], weights, allow_unused=True)
    except Exception as error:
        return {"backward pass": f"{type(error).__name__}: {error}"}
    text = [None if g is None else f"{g.dtype} {list(g.shape)} {g.stride()} {g.tolist()}" for g in flow]
    return {"backward pass": "works"} | {f"gradient of {n}": t for (n, _), t in zip(named, text)}
"""


def write(finding: Finding) -> Parts | None:
    """Write down findings of the gradients check."""
    if finding.check != "gradients":
        return None
    main = CALL_0 % {"thing": "out, ($unpack,), eager", "thing_here": "out, ($unpack,), candidate"}
    return Parts([_LOOK], main + VERDICT)
