"""Files for findings of the compile mode: the model runs twice, as it is and compiled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.repro import parts

if TYPE_CHECKING:
    from harness.findings import Finding

BACKENDS = {"compiled": "eager"}
"""What to tell torch.compile, by runner."""

OBSERVE = """\
def observe(compiled):
    \"\"\"Look at what the calls leave.\"\"\"
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch._dynamo.reset()
    model, $unpack = $make
    run = $compile if compiled else model
%(calls)s    return look(%(thing)s)
"""

EACH = """\
    for call in range($calls):
        $unpack = inputs(call)
        torch.manual_seed(call)
        out = run($star)
"""

FIRST = """\
    torch.manual_seed(0)
    out = run($star)
"""

AGAIN = """\
    undo = noted(model)
    torch.manual_seed(0)
    run($star)
    undo()
    $unpack = $inputs
    torch.manual_seed(0)
    out = run($star)
"""

VARIED = """\
    $unpack = varied(($unpack))
    torch.manual_seed($calls)
%(call)s"""

BOTH = """\
    expected, seen = observe(False), observe(True)
"""

# What a call may leave behind besides tensors.
AMBIENT = '''\
def look(model):
    """What is switched for the whole process."""
    return {
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "default dtype": torch.get_default_dtype(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "dispatch modes": torch._C._len_torch_dispatch_stack(),
        "function modes": torch._C._len_torch_function_stack(),
        "random number generator": torch.get_rng_state().tolist(),
    }'''

ATTRIBUTES = '''\
def look(model):
    """What is compared: plain attributes and training flags."""
    own = vars(torch.nn.Module()).keys() - {"training"} | {"_is_torch_compile"}
    modules = model.named_modules(remove_duplicate=False)
    pairs = [(f"{n}.{k}".strip("."), v) for n, m in modules for k, v in vars(m).items() if k not in own]
    return {k: type(v).__name__ if isinstance(v, torch.Tensor) else repr(v) for k, v in pairs}'''

CONSTANTS = '''\
def look(model):
    """What is compared: the %(word)s of each tensor that is an attribute."""
    modules = model.named_modules(remove_duplicate=False)
    stores = [(n, {**vars(m), **m._buffers, **m._parameters}) for n, m in modules]
    pairs = [(f"{n}.{k}".strip("."), t) for n, store in stores for k, t in store.items()]
    return {k: str(%(fact)s) for k, t in pairs if isinstance(t, torch.Tensor)}'''

NOTED = '''\
def noted(model):
    """Note what the model holds; what is returned puts it back."""
    stores = [vars(m) for m in model.modules()]
    stores += [each for store in stores for each in store.values() if isinstance(each, (dict, list))]
    kept = [(store, store.copy()) for store in stores]
    tensors = [t for store in stores for t in (store.values() if isinstance(store, dict) else store)]
    values = [(t, t.detach().clone(), t.requires_grad) for t in tensors if isinstance(t, torch.Tensor)]

    def undo():
        for store, content in kept:
            store.clear()
            (store.extend if isinstance(store, list) else store.update)(content)
        for tensor, value, requires_grad in values:
            tensor.data = value
            tensor.detach_().requires_grad_(requires_grad)

    return undo'''

RECOMPILED = """\
    model, $unpack = $make
    undo = noted(model)
    run = $compile
    torch.manual_seed(0)
    run($star)
    undo()
    $unpack = $inputs
    torch.manual_seed(0)
    torch._dynamo.utils.clear_compilation_metrics()
    run($star)
    again = [m for m in torch._dynamo.utils.get_compilation_metrics() if "_higher_order_ops" not in m.co_filename]
    for m in again[:1]:
        reason = str(m.recompile_reason).partition("\\n")[0][:200]
        print(f"BUG: a second call with equal inputs compiles {m.co_name} again: {reason}")
    if not again:
        print("ok: a second call with equal inputs compiles nothing")
    sys.exit(bool(again))
"""

CRASH = """\
    look = lambda *_: {}
    observe(False)
    seen = "nothing"
    try:
        observe(True)
    except Exception as error:
        seen = f"{type(error).__name__}: {str(error).strip()[:200]!r}"
    bug = seen.startswith("$error:")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, torch.compile raises {seen}")
    sys.exit(bug)
"""

_TENSORS = """\
def varied(arguments):
    \"\"\"The arguments with other %(what)s.\"\"\"

    def change(t):
%(body)s

    return torch.utils._pytree.tree_map_only(torch.Tensor, change, arguments)"""

_LEAVES = """\
def varied(arguments):
    \"\"\"The arguments with other %(what)s.\"\"\"

    def change(value):
%(body)s

    return torch.utils._pytree.tree_map(change, arguments)"""


def _tensors(what: str, *body: str) -> str:
    return _TENSORS % {"what": what, "body": "\n".join(f"        {line}" for line in body)}


def _leaves(what: str, *body: str) -> str:
    return _LEAVES % {"what": what, "body": "\n".join(f"        {line}" for line in body)}


VARIATIONS = {
    "flags": _leaves("bools", "return not value if isinstance(value, bool) else value"),
    "numbers": _leaves(
        "numbers", "step = {int: 1, float: 0.5}.get(type(value))", "return value if step is None else value + step"
    ),
    "requires_grad": _tensors(
        "requires_grad",
        "if not (t.is_floating_point() or t.is_complex()):",
        "    return t",
        "return t.detach().clone().requires_grad_(not t.requires_grad)",
    ),
    "layout": _tensors(
        "strides",
        "backwards = tuple(reversed(range(t.dim())))",
        "other = t.detach().permute(backwards).clone(memory_format=torch.contiguous_format)",
        "return other.permute(backwards).requires_grad_(t.requires_grad)",
    ),
    "offset": _tensors(
        "storage offsets",
        "size = t.untyped_storage().nbytes() // t.element_size()",
        "flat = t.detach().as_strided((size,), (1,), 0)",
        "longer = torch.cat([flat.new_zeros(2), flat])",
        "moved = longer.as_strided(t.shape, t.stride(), t.storage_offset() + 2)",
        "return moved.requires_grad_(t.requires_grad)",
    ),
    "aliasing": '''\
def varied(arguments):
    """The arguments, where tensors that look alike are one."""
    leaves, spec = torch.utils._pytree.tree_flatten(arguments)
    tensors, first = [t for t in leaves if isinstance(t, torch.Tensor)], {}
    for i, t in enumerate(leaves):
        if isinstance(t, torch.Tensor) and sum(t is other for other in tensors) > 1:
            leaves[i] = t.detach().clone().requires_grad_(t.requires_grad)
        elif isinstance(t, torch.Tensor):
            leaves[i] = first.setdefault((t.dtype, t.shape, t.stride(), t.requires_grad), t)
    return torch.utils._pytree.tree_unflatten(leaves, spec)''',
    "dtype": _tensors(
        "dtypes",
        "if t.dtype != torch.float32:",
        "    return t",
        "return t.detach().double().requires_grad_(t.requires_grad)",
    ),
}
"""How to make the inputs of a varied call, by the name of the variation."""


def pieces(finding: Finding) -> tuple[list[str], str]:
    """Return the functions and the main part that show a finding, as templates."""
    what = finding.signature[2]
    if what == "recompiled":
        return [NOTED], RECOMPILED
    name = finding.signature[3] if what == "served" else ""
    functions = [VARIATIONS[name]] if name in VARIATIONS else []
    if name == "repeated":
        functions.append(NOTED)
    if finding.kind == "crash":
        functions.append(_observe(finding, name, "out"))
        return functions, CRASH
    look, thing = _look(finding)
    return [*functions, look, _observe(finding, name, thing)], BOTH + parts.VERDICT


def _observe(finding: Finding, name: str, thing: str) -> str:
    if name == "repeated":
        calls = AGAIN
    elif name:
        call = "    with torch.no_grad():\n        out = run($star)\n" if name == "no_grad" else "    out = run($star)\n"
        prepare = "\n".join(line for line in VARIED.splitlines() if "varied(" not in line or name in VARIATIONS)
        calls = EACH + f"    $unpack = $inputs\n{prepare}\n" % {"call": call}
    else:
        calls = EACH if finding.call else FIRST
    return OBSERVE % {"calls": calls, "thing": thing}


def _look(finding: Finding) -> tuple[str, str]:
    """Return the function that notes what differs, and what it is to look at."""
    if finding.signature[2] == "served":
        finding = _as_usual(finding)
    if finding.check == "purity":
        return AMBIENT, "model"
    if finding.signature[2] in ("left", "python-value") and finding.check == "state":
        return ATTRIBUTES, "model"
    if finding.check == "state":
        word = parts.word(finding)
        fact = parts.LEAF_FACTS["kind"] if word == "kind" else parts.FACTS[word]
        return CONSTANTS % {"word": word, "fact": fact}, "model"
    return parts.look(finding)[0], "out" if finding.check == "outputs" else "($unpack,)"


def _as_usual(finding: Finding) -> Finding:
    """Return the finding that the difference would be in an ordinary call."""
    place = finding.message.partition(": ")[2]
    check = next((c for c, start in (("outputs", "output"), ("outputs", "the output"), ("inputs", "input ")) if place.startswith(start)), "state")
    return replace(finding, check=check, signature=(check, finding.kind, *finding.signature[4:]))
