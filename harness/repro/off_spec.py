"""How to show a call that leaves the spec and is neither refused nor right."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.off_spec import ALTERATIONS
from harness.repro.table import Parts

if TYPE_CHECKING:
    from harness.findings import Finding

_LOOK = """\
def other(*given):
    \"\"\"The example, but for one argument.\"\"\"
    pairs, spec = torch.utils._pytree.tree_flatten_with_path(given)
    leaves = [leaf for _, leaf in pairs]
    at = [torch.utils._pytree.keystr(p) for p, _ in pairs].index("%(where)s")
%(leaf)s    leaves[at] = %(expression)s
    return torch.utils._pytree.tree_unflatten(leaves, spec)


def look(out, given, module):
    \"\"\"The values of outputs, inputs and state.\"\"\"
    leaves = {"output": torch.utils._pytree.tree_leaves(out), "input": torch.utils._pytree.tree_leaves(given)}
    named = [(f"{kind} {i}", t) for kind in leaves for i, t in enumerate(leaves[kind])]
    for store in (module.named_parameters, module.named_buffers):
        named += store(remove_duplicate=False)
    tensors = {n: f"{t.dtype} {list(t.shape)} {t.tolist()}" for n, t in named if hasattr(t, "dtype")}
    return {n: repr(t) for n, t in named} | tensors
"""

_MAIN = """\
    eager, $unpack = $make
    $unpack_all = other($given)
    expected = look(eager($star), ($unpack,), eager)
    model, $unpack = $make
    ep = $export
    candidate = $lower
    $unpack = $inputs
    $unpack_all = other($given)
    try:
        seen = look(candidate($star), ($unpack,), candidate)
    except Exception as error:
        print(f"ok: $runner refuses the call: {type(error).__name__}")
        sys.exit(0)
    wrong = [n for n in expected if n in seen and seen[n] != expected[n]]
    for n in wrong[:1]:
        print(f"BUG: $runner accepts the call, and {n} is {seen[n]} instead of {expected[n]}")
    if not wrong:
        print("ok: $runner gives what eager gives")
    sys.exit(bool(wrong))
"""

_CHANGED = """\
    model, $unpack = $make
    ep = $export
    candidate = $lower
    $unpack = $inputs
    $unpack_all = other($given)
    expected = look((), ($unpack,), candidate)
    with contextlib.suppress(Exception):
        candidate($star)
        sys.exit("ok: $runner accepts the call")
    seen = look((), ($unpack,), candidate)
    wrong = [n for n in expected if seen[n] != expected[n]]
    for n in wrong[:1]:
        print(f"BUG: $runner refuses the call, but {n} was {expected[n]} and is {seen[n]}")
    if not wrong:
        print("ok: a refused call leaves all as it was")
    sys.exit(bool(wrong))
"""


def write(finding: Finding) -> Parts | None:
    """Write down findings of the guards check about calls that leave the spec."""
    what = finding.signature[2:]
    if what[0] not in ("accepted", "refused-but-changed"):
        return None
    return Parts([look_at_altered(finding, what[1])], _MAIN if what[0] == "accepted" else _CHANGED)


def look_at_altered(finding: Finding, alteration: str) -> str:
    """Return the functions that alter the argument which a finding names, and look at what comes of it."""
    named = re.search(r"in which (args|kwargs)(\S*) is ", finding.message)
    place = {"args": "[0]", "kwargs": "[1]"}[named[1]] + named[2] if named else ""
    expression = ALTERATIONS[alteration].expression
    leaf = "    leaf = leaves[at]\n" if re.search(r"\bleaf\b", expression) else ""
    return _LOOK % {"where": place, "expression": expression, "leaf": leaf}
