"""How to show who is whom, who lives in whose memory, and what a write to an output does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.repro.parts import CALL_0, CALL_N, VERDICT
from harness.repro.table import Parts

if TYPE_CHECKING:
    from harness.findings import Finding


def write(finding: Finding) -> Parts | None:
    """Write down findings of the aliasing check, and of outputs about identity."""
    what = finding.signature[2:]
    if finding.kind != "mismatch" or (finding.check != "aliasing" and what[:1] != ("identity",)):
        return None
    if what[0] == "write":
        return _mutation_probe(finding)
    identity = what[0] == "identity"
    lost = "new" not in what if identity else what[0] == "no-longer-shared"
    here, there = ("ours", "theirs") if lost else ("theirs", "ours")
    equal, unequal = ("is", "is not") if identity else ("==", "!=")
    values = {
        "condition": f"{here}[a] {equal} {here}[b] and {there}[a] {unequal} {there}[b]",
        "text": "are one object" if identity else "share memory",
        "yes": "eager" if lost else "the $runner",
        "no": "the $runner" if lost else "eager",
    }
    template = CALL_N if finding.call else CALL_0
    main = template % dict.fromkeys(("thing", "thing_here"), "%s")
    main = main.replace("look(%s)", "look(out, ($unpack,), eager)", 1)
    main = main.replace("look(%s)", "look(out, ($unpack,), candidate)", 1)
    return Parts([_look("t" if identity else "t.untyped_storage()._cdata")], main + _PAIRS % values)


def _look(fact: str) -> str:
    return "\n".join(
        (
            "def look(out, given, module):",
            '    """All outputs, inputs and tensors of the state, by name."""',
            "    leaves = torch.utils._pytree.tree_leaves",
            '    named = [(f"output {i}", t) for i, t in enumerate(leaves(out))]',
            '    named += [(f"input {i}", t) for i, t in enumerate(leaves(given))]',
            "    for prefix, m in module.named_modules(remove_duplicate=False):",
            "        store = {**vars(m), **m._parameters, **m._buffers}",
            '        named += [(f"{prefix}.{n}", t) for n, t in store.items()]',
            f"    return {{name: {fact} for name, t in named if isinstance(t, torch.Tensor)}}",
        )
    )


# An output must be among them: what the state shares with itself is another matter.
_PAIRS = """\
    ours, theirs = expected, seen
    pairs = [p for p in itertools.combinations(ours.keys() & theirs.keys(), 2) if "output" in str(p)]
    wrong = sorted(sorted((a, b)) for a, b in pairs if %(condition)s)
    for a, b in wrong[:1]:
        print(f"BUG: {a} and {b} %(text)s in %(yes)s, not in %(no)s")
    if not wrong:
        print("ok: outputs are aliases of what they are in eager")
    sys.exit(bool(wrong))
"""


def _mutation_probe(finding: Finding) -> Parts:
    output = re.search(r"a write to output(\S*)", finding.message)
    where = output[1] if output else ""
    look = "\n".join(
        (
            "def look(out, given, module):",
            f'    """Write to output{where}; what is to be seen then in everything else."""',
            "    leaves = torch.utils._pytree.tree_leaves",
            "    flat, _ = torch.utils._pytree.tree_flatten_with_path(out)",
            f"    target = next(t for p, t in flat if torch.utils._pytree.keystr(p) == {where!r})",
            "    try:",
            "        target.detach().add_(1) if target.dtype != torch.bool else target.logical_not_()",
            "    except RuntimeError as error:",
            '        return {"the write": str(error)}',
            '    seen = {f"output {i}": str(t) for i, (_, t) in enumerate(flat)}',
            '    seen |= {f"input {i}": str(t) for i, t in enumerate(leaves(given))}',
            '    seen["the write"] = "works"',
            "    for store in (module.named_parameters, module.named_buffers):",
            "        seen |= {n: str(t.tolist()) for n, t in store(remove_duplicate=False)}",
            "    return seen",
        )
    )
    main = CALL_0 % {"thing": "out, ($unpack,), eager", "thing_here": "out, ($unpack,), candidate"}
    return Parts([look], main + VERDICT)
