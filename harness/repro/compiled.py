"""How to show findings of the compile mode: what is compared runs compiled, and nothing is exported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.paths.runners import RUNNERS
from harness.repro import deviations, edits, looks, parts
from harness.repro.table import Parts

if TYPE_CHECKING:
    from harness.findings import Finding

_SAME_RANDOM = "    torch._inductor.config.fallback_random = True  # draw random numbers as eager does\n"


def helper(finding: Finding, *, random: bool) -> str:
    """Return the function that ``$lower`` calls."""
    text = RUNNERS[finding.runner].helper
    return text.replace("    return model", f"{_SAME_RANDOM}    return model") if random else text


def without_export(main: str) -> str:
    """Drop the export from the template of a script."""
    return re.sub(r"^ *ep = \$export\n", "", main, flags=re.MULTILINE)


_UNDO = '''\
def noted(model):
    """Note what the model holds; what is returned puts it back."""
    stores = [vars(m) for m in model.modules()]
    stores += [each for store in stores for each in store.values() if isinstance(each, (dict, list))]
    kept = [(store, store.copy()) for store in stores]
    held = [t for store in stores for t in (store.values() if isinstance(store, dict) else store)]
    values = [(t, t.detach().clone(), t.requires_grad) for t in held if isinstance(t, torch.Tensor)]

    def undo():
        for store, content in kept:
            store.clear()
            (store.extend if isinstance(store, list) else store.update)(content)
        for tensor, value, requires_grad in values:
            tensor.data = value
            tensor.detach_().requires_grad_(requires_grad)

    return undo'''

_RECOMPILED = """\
    model, $unpack = $make
    candidate = $lower
    undo = noted(model)
    candidate($star)
    undo()
    $unpack = $inputs
    torch._dynamo.utils.clear_compilation_metrics()
    candidate($star)
    again = torch._dynamo.utils.get_compilation_metrics()
    again = [m for m in again if "_higher_order_ops" not in m.co_filename]
    for m in again[:1]:
        reason = str(m.recompile_reason).partition("\\n")[0][:200]
        print(f"BUG: a second call with equal inputs compiles {m.co_name} again: {reason}")
    if not again:
        print("ok: a second call with equal inputs compiles nothing")
    sys.exit(bool(again))
"""

_ATTRIBUTES = '''\
def look(model):
    """What is compared: plain attributes, training flags and the number of hooks."""
    own = vars(torch.nn.Module()).keys() - {"training"} | {"_is_torch_compile", "_compiled_call_impl"}
    modules = model.named_modules(remove_duplicate=False)
    pairs = [(f"{n}.{k}".strip("."), v) for n, m in modules for k, v in vars(m).items()]
    named = {k: v for k, v in pairs if k.rpartition(".")[2] not in own}
    hooks = {k: len(v) for k, v in pairs if k.endswith("_hooks") and isinstance(v, dict)}
    fact = lambda v: type(v).__name__ if isinstance(v, torch.Tensor) else repr(v)
    return {**{k: fact(v) for k, v in named.items()}, **hooks}'''

_AMBIENT = '''\
def look():
    """What is compared: the %(name)s."""
    return {"%(name)s": %(fact)s}'''

# One after the other: a model may leave other modes, and the next call begin with them.
_SIDES = """\
    seen = []
    for side in ("eager", "torch.compile"):
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        model, $unpack = $make
        run = $lower if side == "torch.compile" else model
%(calls)s        seen.append(look(%(thing)s))
    expected, seen = seen
"""

_EACH = """\
        for call in range($calls):
            $unpack = inputs(call)
            torch.manual_seed(call)
            out = run($star)
"""

_ONCE = """\
        torch.manual_seed(0)
        out = run($star)
"""

_ALTER = """\
        $unpack = $inputs
        $unpack_all = other($given)
        with contextlib.suppress(Exception):  # it may raise, in eager as well
            run($star)
"""

_PRINTED = """\
    printed = []
    for candidate in ("eager", "torch.compile"):
        model, $unpack = $make
        run = $lower if candidate == "torch.compile" else model
        with contextlib.redirect_%(stream)s(io.StringIO()) as text:
            run($star)
        printed.append(text.getvalue())
    bug = bool(printed[0]) != bool(printed[1])
    print(f"{'BUG' if bug else 'ok'}: eager prints {printed[0]!r}, torch.compile {printed[1]!r}"[:500])
    sys.exit(bug)
"""

_ALTERED = """\
    eager, $unpack = $make
    eager($star)
    $unpack = $inputs
    $unpack_all = other($given)
    expected = look(eager($star), ($unpack,), eager)
    model, $unpack = $make
    candidate = $lower
    candidate($star)
    $unpack = $inputs
    $unpack_all = other($given)
    try:
        seen = look(candidate($star), ($unpack,), candidate)
    except Exception as error:
        print(f"BUG: torch.compile raises {type(error).__name__}: {str(error).strip()[:200]!r}")
        sys.exit(1)
    wrong = [n for n in expected if n in seen and seen[n] != expected[n]]
    for n in wrong[:1]:
        print(f"BUG: {n} is {seen[n]} instead of {expected[n]}"[:500])
    if not wrong:
        print("ok: torch.compile gives what eager gives")
    sys.exit(bool(wrong))
"""


_THINGS = {"outputs": "out", "inputs": "($unpack,)", "state": "model"}
"""What a check looks at after the last call."""


def write(finding: Finding) -> Parts | None:
    """Write down what only a path that compiles can show."""
    if finding.mode != "compile" or finding.kind in ("abort", "hang"):
        return None
    what = finding.signature[2]
    if what == "recompiled":
        return Parts([_UNDO], _RECOMPILED)
    if what in ("served", "accepted"):
        deviation = finding.signature[-1 if what == "served" else 3]
        return deviations.deviating(finding, deviation, [deviations.LOOK], _ALTERED)
    if finding.check == "purity":
        return _global(finding)
    if finding.kind == "mismatch" and finding.check in _THINGS:
        look = [_ATTRIBUTES] if what == "left" else looks.look(finding)
        calls = _EACH if finding.call else _ONCE
        return Parts(look, _SIDES % {"calls": calls, "thing": _THINGS[finding.check]} + parts.VERDICT)
    edited = edits.write(finding)
    if edited is not None:  # what was compiled before the edit is what matters
        before = "    eager($star)\n    candidate($star)\n    names = {}\n"
        return edited._replace(main=edited.main.replace("    names = {}\n", before, 1))
    return None


def _global(finding: Finding) -> Parts:
    name = finding.signature[-1]
    if name.startswith("text on "):
        return Parts([], _PRINTED % {"stream": {"output": "stdout", "error": "stderr"}[name.split()[-1]]})
    look, calls = _AMBIENT % {"name": name, "fact": looks.GLOBALS[name]}, _EACH if finding.call else _ONCE
    altered = re.search(r"^altered: (\S+)$", finding.message, re.MULTILINE)
    if altered is not None:
        main = _SIDES % {"calls": _ONCE + _ALTER, "thing": ""} + parts.VERDICT
        return deviations.deviating(finding, altered[1], [look], main)
    return Parts([look], _SIDES % {"calls": calls, "thing": ""} + parts.VERDICT)
