"""The pieces that repro files are put together from: plain torch, as one would type it."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from harness.inputs.copies import CALLS
from harness.repro.looks import fact

if TYPE_CHECKING:
    from harness.findings import Finding


def fresh(*, seed: bool, device: str, wrap: str = "") -> str:
    """Build under the same random numbers every time, on the right device; ``wrap`` is done to ``model``."""
    lines = ["def fresh():"]
    if seed:
        lines.append("    torch.manual_seed(0)")
    if device:
        lines.append(f'    with torch.device("{device}"):')
    indent = " " * (8 if device else 4)
    if wrap:
        lines += [f"{indent}model, *given = make()", f"{indent}return ({wrap}, *given)"]
    else:
        lines.append(f"{indent}return make()")
    return "\n".join(lines)


def done_to_eager(main: str, function: str) -> str:
    """Let the template of a script do to the eager model what is done to what it is compared with."""
    return re.sub(r"^( *)(eager), (.*\$make\n)", rf"\1\2, \3\1eager = {function}(eager)\n", main, flags=re.M)


def leaves_only(main: str) -> str:
    """Let the template of a script look at the leaves of outputs alone."""
    return re.sub(r"\b(eager|candidate)\(\$star\)", r"torch.utils._pytree.tree_leaves(\1($star))", main)


def inputs(*, kwargs: bool, probes: bool = False, seed: bool = False, device: str = "") -> str:
    """Fresh inputs with other values, for a finding that only a later call or a probe shows."""
    unpack = "_, args, kwargs" if kwargs else "_, args"
    given = "args, kwargs" if kwargs else "args"
    text = textwrap.dedent(f'''\
        def inputs(call):
            """The example inputs; later calls get other values, views of one memory stay such."""
            {unpack} = $make
            scale, shift = [(1, 0), (-0.5, 0.25), (0.75, -0.125)][call]
            tensors = [t for t in torch.utils._pytree.tree_leaves(({given},)) if hasattr(t, "dtype")]
            for t in {{t.untyped_storage()._cdata: t.detach() for t in tensors}}.values():
                flat = t.as_strided((t.untyped_storage().nbytes() // t.element_size(),), (1,), 0)
                if flat.is_floating_point():
                    flat.mul_(scale).add_(shift)
                elif flat.dtype == torch.bool and call:
                    flat.logical_not_()
            return {given}''')
    if probes:
        head, doc, rest = text.partition('stay such."""\n')
        text = head + doc + _probe(kwargs=kwargs, seed=seed, device=device) + rest
    return text


def _probe(*, kwargs: bool, seed: bool, device: str) -> str:
    """Hand out the probes, which come after the calls with inputs like the example."""
    lines = ["torch.manual_seed(0)"] if seed else []
    lines.append(f"return probes()[call - {CALLS}]{'' if kwargs else '[0]'}")
    if device:
        lines = [f'with torch.device("{device}"):', *(f"    {line}" for line in lines)]
    return "".join(f"    {line}\n" for line in (f"if call >= {CALLS}:", *(f"    {line}" for line in lines)))


START = """\
if __name__ == "__main__":
    warnings.simplefilter("ignore")
"""

VERDICT = """\
    wrong = [n for n in expected if n in seen and seen[n] != expected[n]]
    for n in wrong[:1]:
        print(f"BUG: {n}: eager gives {expected[n]}, $runner gives {seen[n]}")
    if not wrong:
        print("ok: $runner gives what eager gives")
    sys.exit(bool(wrong))
"""

GONE = """\
    start = look($make[0])
    lost = [n for n in expected if n not in seen and expected[n] != start[n]]
    for n in lost[:1]:
        print(f"BUG: {n}: eager leaves {expected[n]}, $runner does not have it")
    if not lost:
        print("ok: $runner has what eager changes")
    sys.exit(bool(lost))
"""

MISSING = """\
    bug = "$name" in expected and "$name" not in seen
    print(f"{'BUG' if bug else 'ok'}: is $name in eager: True, in $runner: {not bug}")
    sys.exit(bug)
"""

CALL_0 = """\
    eager, $unpack = $make
    out = eager($star)
    expected = look(%(thing)s)

    model, $unpack = $make
    ep = $export
    candidate = $lower
    $unpack = $inputs
    out = candidate($star)
    seen = look(%(thing_here)s)
"""

CALL_N = """\
    eager, $unpack = $make
    model, $unpack = $make
    ep = $export
    candidate = $lower
    for call in range($calls):
        $unpack = inputs(call)
        out = eager($star)
        expected = look(%(thing)s)
        $unpack = inputs(call)
        out = candidate($star)
        seen = look(%(thing_here)s)
"""

AT_START = """\
    eager, $unpack = $make
    model, $unpack = $make
    ep = $export
    candidate = $lower
    expected, seen = look(eager), look(candidate)
"""

PURITY_EXPORT = """\
    model, $unpack = $make
    expected = look(model, ($unpack,))
    with contextlib.suppress(Exception):  # it may refuse, but not leave a mess behind
        $export
    seen = look(model, ($unpack,))
"""

PURITY_LOWER = """\
    model, $unpack = $make
    ep = $export
    expected = look(model, ($unpack,))
    $lower
    seen = look(model, ($unpack,))
"""

PURITY_VERDICT = """\
    wrong = [n for n in {**expected, **seen} if seen.get(n) != expected.get(n)]
    for n in wrong[:1]:
        print(f"BUG: {n}: {expected.get(n)} before %(what)s, {seen.get(n)} after it"[:500])
    if not wrong:
        print("ok: %(what)s leaves all as it was")
    sys.exit(bool(wrong))
"""

SHARING = """\
    eager, $unpack = $make
    model, $unpack = $make
    ep = $export
    candidate = $lower
    ours, theirs = look(eager), look(candidate)
    pairs = itertools.combinations(sorted(ours.keys() & theirs.keys()), 2)
    wrong = [(a, b) for a, b in pairs if %(condition)s]
    for a, b in wrong[:1]:
        print(f"BUG: %(what)s")
    if not wrong:
        print("ok: $runner shares what eager shares")
    sys.exit(bool(wrong))
"""

APART = """\
    model, $unpack = $make
    ep = $export
    original = $original
    copied = $copied
    places = {t.untyped_storage()._cdata for t in look(original).values()}
    wrong = [n for n, t in look(copied).items() if t.numel() and t.untyped_storage()._cdata in places]
    print(f"BUG: {wrong[0]} of the copy is the original's memory" if wrong else "ok: they share nothing")
    sys.exit(bool(wrong))
"""

TORN = """\
    model, $unpack = $make
    ep = $export
    candidate = $lower
    tensors = look(candidate)
    bases = {name: re.sub(r"@\\d+", "", name) for name in tensors if "@" in name}
    wrong = [n for n, base in bases.items() if base in tensors and tensors[n] is not tensors[base]]
    print(f"BUG: {wrong[0]} is a tensor of its own" if wrong else "ok: all calls share their state")
    sys.exit(bool(wrong))
"""

RECORDED_INPUT = """\
    model, $unpack = $make
    ep = $export
    $unpack = $inputs
    names = [s.arg.name for s in ep.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    leaves = torch.utils._pytree.tree_leaves(($unpack,))
    actual = {n: t for n, t in zip(names, leaves) if %(keep)sisinstance(t, torch.Tensor)}
"""

RECORDED_STATE = """\
    model, $unpack = $make
    ep = $export
    model, $unpack = $make
    state = dict(model.named_%(sort)ss(remove_duplicate=False))
    actual = {n: state[fqn] for n, fqn in ep.graph_signature.inputs_to_%(sort)ss.items()}
"""

RECORDED = """\
    wrong = []
    for node in ep.graph.nodes:
        if node.op == "placeholder" and node.name in actual:
            expected, seen = (%(fact)s for t in (actual[node.name], node.meta["val"]))
            if expected != seen:
                wrong.append(f"%(what)s of {node.name}: handed in {expected}, recorded {seen}")
    print(f"BUG: {wrong[0]}" if wrong else "ok: the graph records its inputs as they are")
    sys.exit(bool(wrong))
"""

CRASH = """\
    eager, $unpack = $make
    eager($star)
    model, $unpack = $make
    seen = "nothing"
    try:
        ep = $export
%(rest)s    except Exception as error:
        seen = f"{type(error).__name__}: {str(error).strip()[:200]!r}"
    bug = seen.startswith("$error:")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, %(stage)s raises {seen}")
    sys.exit(bug)
"""

CRASH_N = """\
    eager, $unpack = $make
    model, $unpack = $make
    ep = $export
    candidate = $lower
    seen = "nothing"
    try:
        for call in range($calls):
            $unpack = inputs(call)
            eager($star)
            $unpack = inputs(call)
            candidate($star)
    except Exception as error:
        seen = f"{type(error).__name__}: {str(error).strip()[:200]!r}"
    bug = seen.startswith("$error:")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, call {call} of $runner raises {seen}")
    sys.exit(bug)
"""

ALIVE = """\
if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:  # in a process of its own, which this may take down
        warnings.simplefilter("ignore")
        model, $unpack = $make
        ep = $export
        candidate = $lower
        $unpack = $inputs
        candidate($star)
        sys.exit(0)
    try:
        code = subprocess.run([sys.executable, __file__, "run"], timeout=$seconds).returncode
    except subprocess.TimeoutExpired:
        code = "no end within $seconds s"
    bug = %(bug)s
    print(f"BUG: {code}" if bug else "ok: the process ends by itself")
    sys.exit(bug)
"""


def script(main: str, *, reseed: bool) -> str:
    """Return the template of the part below ``if __name__``."""
    text = _reseeded(main) if reseed else main
    return text if text.startswith("if __name__") else START + text


def main(finding: Finding) -> str:
    """Return the template of what the script does."""
    if finding.kind in ("abort", "hang"):
        bug = "isinstance(code, str)" if finding.kind == "hang" else "isinstance(code, int) and code < 0"
        return ALIVE % {"bug": bug}
    if finding.kind == "crash" or "refused" in finding.signature[:3]:
        return _crash(finding)
    if finding.check == "sharing":
        return _sharing(finding)
    if finding.check == "guards":
        return _recorded(finding)
    if finding.check == "purity":
        head = PURITY_EXPORT if finding.stage == "export" else PURITY_LOWER
        what = "export" if finding.stage == "export" else "making the $runner"
        return head + PURITY_VERDICT % {"what": what}
    if finding.check == "state" and finding.call is None:
        return AT_START + (MISSING if "missing" in finding.signature else VERDICT)
    things = {
        "outputs": ("out", "out"),
        "inputs": ("($unpack,)", "($unpack,)"),
        "state": ("eager", "candidate"),
    }
    thing, here = things[finding.check]
    template = CALL_N if finding.call else CALL_0
    verdict = GONE if "gone" in finding.signature else VERDICT
    return template % {"thing": thing, "thing_here": here} + verdict


def _crash(finding: Finding) -> str:
    if finding.call:
        return CRASH_N
    rest = ""
    if finding.stage != "export":
        rest += "        candidate = $lower\n"
    if finding.stage == "run":
        rest += "        $unpack = $inputs\n        candidate($star)\n"
    stage = {"export": "export", "lower": "making the $runner", "run": "calling the $runner"}
    return CRASH % {"rest": rest, "stage": stage[finding.stage]}


def _sharing(finding: Finding) -> str:
    what = finding.signature[2]
    if what == "call-variant-has-its-own":
        return TORN
    if what == "copy-shares":
        return APART
    if what == "one-tensor-became-several":
        condition = "ours[a] is ours[b] and theirs[a] is not theirs[b]"
        text = "{a} and {b} are one tensor in eager, two in the $runner"
    elif what == "several-tensors-became-one":
        condition = "theirs[a] is theirs[b] and ours[a] is not ours[b]"
        text = "{a} and {b} are two tensors in eager, one in the $runner"
    elif what == "memory-no-longer-shared":
        condition = "ours[a] == ours[b] and theirs[a] != theirs[b]"
        text = "{a} and {b} share memory in eager, not in the $runner"
    else:
        condition = "theirs[a] == theirs[b] and ours[a] != ours[b]"
        text = "{a} and {b} share memory in the $runner, not in eager"
    return SHARING % {"condition": condition, "what": text}


def _recorded(finding: Finding) -> str:
    _, what, sort = finding.signature[2:5]
    if sort == "input":
        head = RECORDED_INPUT % {"keep": "not " if what == "value" else ""}
    else:
        head = RECORDED_STATE % {"sort": sort}
    return head + RECORDED % {"fact": "t" if what == "value" else fact(what), "what": what}


def _reseeded(text: str) -> str:
    """Give both sides of every call the same random numbers."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if "eager($star)" in line or "candidate($star)" in line:
            lines.append(line[: len(line) - len(line.lstrip())] + "$reseed\n")
        lines.append(line)
    return "".join(lines)
