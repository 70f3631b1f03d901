"""The functions ``look`` of repro files: they note the thing to compare, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.findings import Finding

# How one looks at a tensor ``t`` (or a leaf that is none), by the word for what differs.
FACTS = {
    "value": "t.tolist()",
    "rounding": "t.tolist()",
    "sign-of-zero": "t.tolist()",
    "dtype": "t.dtype",
    "device": "t.device.type",
    "shape": "list(t.shape)",
    "stride": "[s for n, s in zip(t.shape, t.stride(), strict=True) if n > 1 and t.numel()]",
    "offset": "t.storage_offset()",
    "conj-bit": "t.is_conj()",
    "neg-bit": "t.is_neg()",
    "requires-grad": "t.requires_grad",
    "missing": "list(t.shape)",
}
LEAF_FACTS = {"kind": 'type(t).__name__.replace("Parameter", "Tensor")', "python-value": "t"}
TENSOR_WORDS = frozenset(FACTS)


def word(finding: Finding) -> str:
    """Return which property differs, of those that ``FACTS`` can look at."""
    return next((w for w in finding.signature if w in FACTS or w in LEAF_FACTS), "value")


def fact(what: str) -> str:
    """Return the expression that looks at a leaf ``t`` for what a word names."""
    return LEAF_FACTS.get(what) or FACTS[what]


def look(finding: Finding) -> list[str]:
    """Return the function that notes the thing to compare, by name; none where unneeded."""
    what = finding.signature[2] if len(finding.signature) > 2 else ""
    if finding.kind != "mismatch" or finding.check == "guards":
        return []
    if what == "copy-shares":
        return [_STATE_LOOK]
    if finding.check == "sharing":
        return [_tensors_look(memory=what.startswith("memory"))]
    if finding.check == "purity":
        return [_purity_look(finding)]
    if finding.check == "state":
        return [_state_look(finding)]
    if what == "structure":
        return [
            'def look(out):\n    return {"output structure": str(torch.utils._pytree.tree_flatten(out)[1])}'
        ]
    return [_leaves_look(word(finding), "output" if finding.check == "outputs" else "input")]


_STATE_LOOK = '''\
def look(thing):
    """The parameters and buffers of a program or a module."""
    return dict([*thing.named_parameters(), *thing.named_buffers()])'''


def _tensors_look(*, memory: bool) -> str:
    whole = "{name: t.untyped_storage()._cdata for name, t in state}" if memory else "dict(state)"
    doc = "The memory of all" if memory else "All"
    return "\n".join(
        (
            "def look(module):",
            f'    """{doc} parameters, buffers and other tensor attributes by name."""',
            *STATE,
            "    for prefix, m in module.named_modules(remove_duplicate=False):",
            '        dot = prefix and f"{prefix}."',
            "        state += [(dot + n, t) for n, t in vars(m).items() if isinstance(t, torch.Tensor)]",
            f"    return {whole}",
        )
    )


def _leaves_look(what: str, name: str) -> str:
    keep = "" if what == "kind" else " if isinstance(t, torch.Tensor)"
    if what == "python-value":
        keep = " if not isinstance(t, torch.Tensor)"
    return (
        "def look(tree):\n"
        f'    """What is compared: the {what} of each {name}."""\n'
        f"    leaves = [t for t in torch.utils._pytree.tree_leaves(tree){keep}]\n"
        f'    return {{f"{what} of {name} {{i}}": str({fact(what)}) for i, t in enumerate(leaves)}}'
    )


def _state_look(finding: Finding) -> str:
    what = word(finding)
    key, doc = f"{what} of {{name}}", f"What is compared: the {what} of each parameter and buffer."
    if what == "missing":
        key, doc = "{name}", "All parameters and buffers by name."
    if "constant" in finding.signature:
        return _constants_look(f"{what} of {{name}}", fact(what))
    lines = [
        "def look(module):",
        f'    """{doc}"""',
        *STATE,
    ]
    if finding.runner == "unflatten":
        lines += [
            "    # A call's own copy (n@1.w) only counts where n.w is missing.",
            '    state.sort(key=lambda pair: "@" not in pair[0])',
            '    state = [(re.sub(r"@\\d+", "", name), t) for name, t in state]',
        ]
    lines.append(f'    return {{f"{key}": str({fact(what)}) for name, t in state}}')
    return "\n".join(lines)


STATE = (
    "    state = [*module.named_parameters(remove_duplicate=False)]",
    "    state += module.named_buffers(remove_duplicate=False)",
)


def _constants_look(key: str, fact: str, argument: str = "module") -> str:
    """Look at tensors that are plain attributes; a path may have made them buffers."""
    return "\n".join(
        (
            f"def look({argument}):",
            f"    modules = {argument.partition(',')[0]}.named_modules(remove_duplicate=False)",
            "    stores = [(name, {**m._buffers, **vars(m)}) for name, m in modules]",
            '    state = [(f"{p}.{n}", t) for p, store in stores for n, t in store.items()]',
            "    state = [(name, t) for name, t in state if isinstance(t, torch.Tensor)]",
            f'    return {{f"{key}": str({fact}) for name, t in state}}',
        )
    )


def _purity_look(finding: Finding) -> str:
    """Return a look at the world around an export: only at what this finding is about."""
    sort = finding.signature[3]
    what = word(finding)
    given = "model, args"
    if sort == "constant":
        return _constants_look(f"{what} of {{name}}", fact(what), given)
    if sort in ("parameter", "buffer"):
        body = (
            f"    state = model.named_{sort}s(remove_duplicate=False)\n"
            f'    return {{f"{what} of {{name}}": str({fact(what)}) for name, t in state}}'
        )
    elif sort == "input":
        leaf = fact(what)
        keep = "" if what in LEAF_FACTS else " if isinstance(t, torch.Tensor)"
        body = (
            "    leaves = enumerate(torch.utils._pytree.tree_leaves(args))\n"
            f'    return {{f"{what} of input {{i}}": str({leaf}) for i, t in leaves{keep}}}'
        )
    elif sort == "sharing":
        body = (
            "    modules = model.named_modules(remove_duplicate=False)\n"
            "    stores = [(p, {**m._parameters, **m._buffers, **vars(m)}) for p, m in modules]\n"
            '    state = [(f"{p}.{n}", t) for p, store in stores for n, t in store.items()]\n'
            "    real = (torch.Tensor, torch.nn.Parameter)  # what else is left there is another matter\n"
            "    place = lambda t: (id(t), t.untyped_storage()._cdata)\n"
            '    return {f"tensor of {name}": place(t) for name, t in state if type(t) in real}'
        )
    elif sort == "training flag":
        body = (
            "    modules = model.named_modules(remove_duplicate=False)\n"
            '    return {f"{name}.training": m.training for name, m in modules}'
        )
    elif sort == "hooks":
        body = (
            "    modules = model.named_modules(remove_duplicate=False)\n"
            '    kinds = ["_forward_hooks", "_forward_pre_hooks", "_state_dict_hooks"]\n'
            '    return {f"hooks of {name}": [len(getattr(m, k)) for k in kinds]'
            " for name, m in modules}"
        )
    elif sort == "attribute":
        body = (
            "    standard = vars(torch.nn.Module())\n"
            "    return {\n"
            '        f"{name}.{key}": f"a tensor, id {id(value)}"'
            " if isinstance(value, torch.Tensor) else repr(value)\n"
            "        for name, m in model.named_modules()\n"
            "        for key, value in vars(m).items()\n"
            "        if key not in standard\n"
            "    }"
        )
    elif finding.signature[4] == "sizes marked on the example inputs":
        body = (
            "    leaves = [t for t in torch.utils._pytree.tree_leaves(args) if isinstance(t, torch.Tensor)]\n"
            '    marks = lambda t: {n: d for n, d in vars(t).items() if n.endswith("_indices") and d}\n'
            '    return {"sizes marked on the example inputs": [marks(t) for t in leaves]}'
        )
    else:
        body = f'    return {{"{finding.signature[4]}": {GLOBALS[finding.signature[4]]}}}'
    return f"def look({given}):\n" + body


GLOBALS = {
    "grad mode": "torch.is_grad_enabled()",
    "default dtype": "torch.get_default_dtype()",
    "autocast": 'torch.is_autocast_enabled("cpu")',
    "depth of autocast": "min(torch.autocast_increment_nesting(), torch.autocast_decrement_nesting())",
    "global random number generator": "torch.get_rng_state().tolist()",
    "inference mode": "torch.is_inference_mode_enabled()",
    "default device": "torch.get_default_device()",
    "anomaly mode": "torch.is_anomaly_enabled()",
    "dispatch modes": "len(torch.utils._python_dispatch._get_current_dispatch_mode_stack())",
    "function modes": "torch._C._len_torch_function_stack()",
    "functorch level": "torch._C._functorch.peek_interpreter_stack() is not None",
    "whether export is running": "torch.compiler.is_exporting()",
    "graph of the exported program": "[(node.op, node.name) for node in ep.graph.nodes]",
    "hooks on all modules": "len(torch.nn.modules.module._global_buffer_registration_hooks)",
}
"""How to look at what is switched for the whole process, by the names in ``Environment.process_state``."""
