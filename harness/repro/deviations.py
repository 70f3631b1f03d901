"""How to show a call that leaves the spec and is neither refused nor right."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.inputs.deviations import DEVIATIONS
from harness.repro.table import Parts

if TYPE_CHECKING:
    from harness.findings import Finding

_OTHER = """\
def other(*given):
    \"\"\"The example, but for one argument.\"\"\"
    pairs, spec = torch.utils._pytree.tree_flatten_with_path(given)
    leaves = [leaf for _, leaf in pairs]
    at = [torch.utils._pytree.keystr(p) for p, _ in pairs].index("%(where)s")
%(leaf)s    leaves[at] = %(expression)s
    return torch.utils._pytree.tree_unflatten(leaves, spec)"""

LOOK = """\
def look(out, given, module):
    \"\"\"The values of outputs, inputs and state.\"\"\"
    leaves = {"output": torch.utils._pytree.tree_leaves(out), "input": torch.utils._pytree.tree_leaves(given)}
    named = [(f"{kind} {i}", t) for kind in leaves for i, t in enumerate(leaves[kind])]
    for store in (module.named_parameters, module.named_buffers):
        named += store(remove_duplicate=False)
    tensors = {n: f"{t.dtype} {list(t.shape)} {t.tolist()}" for n, t in named if hasattr(t, "dtype")}
    return {n: repr(t) for n, t in named} | tensors"""
"""Looks at what a call gives, and at what it has changed."""

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
    return deviating(finding, what[1], [LOOK], _MAIN if what[0] == "accepted" else _CHANGED)


def deviating(finding: Finding, deviation: str, look: list[str], main: str) -> Parts:
    """Have a template make the call that a finding names where it makes that of ``ALTER``."""
    around, expression = DEVIATIONS[deviation].around, DEVIATIONS[deviation].expression
    if around:
        return Parts(look, _surrounded(main, around))
    if DEVIATIONS[deviation].of_model:
        return Parts(look, _assigning(main, finding.message))
    named = re.search(r"in which (args|kwargs)(\S*) is ", finding.message)
    place = {"args": "[0]", "kwargs": "[1]"}[named[1]] + named[2] if named else ""
    leaf = "    leaf = leaves[at]\n" if re.search(r"\bleaf\b", expression) else ""
    other = _OTHER % {"where": place, "expression": expression, "leaf": leaf}
    return Parts([other, *look], main)


ALTER = "$unpack_all = other($given)"
"""The line of a template that alters the arguments of the next call."""


def _surrounded(main: str, around: str) -> str:
    """Make the calls with altered arguments under a context manager instead, and look at them there."""
    lines: list[str] = []
    indent = passed = ""
    altering = False
    for line in main.splitlines(keepends=True):
        if line.strip() == ALTER:
            altering, passed = True, ""
            indent = line[: line.index(ALTER)]
            lines.append(f"{indent}with {around}:\n")
            continue
        begins = not line.startswith((f"{indent} ", f"{indent}except"))
        if begins and "($star)" in passed and "look(" in passed:
            altering = False
        passed += line
        lines.append(f"    {line}" if altering else line)
    return "".join(lines)


def _assigning(main: str, message: str) -> str:
    """Assign an attribute of the model that is called next, instead of altering its arguments."""
    named = re.search(r"in which model\.(\S+) is (.+), not ", message)
    place, value = (named[1], named[2]) if named else ("training", "False")
    owner, _, name = place.rpartition(".")
    called = re.compile(r"(\w+)\(\$star\)")
    lines = main.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.strip() == ALTER:
            model = next(found[1] for later in lines[number:] if (found := called.search(later)))
            module = f'{model}.get_submodule("{owner}")' if owner else model
            lines[number] = line.replace(ALTER, f"{module}.{name} = {value}")
    return "".join(lines)
