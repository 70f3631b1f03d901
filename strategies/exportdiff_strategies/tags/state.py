"""Tags of parameters, buffers and constants, and of how values move between them."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Tag, has_node, marked
from exportdiff_strategies.values import TensorValue


def _state_refs(p: Analysis) -> list[TensorValue]:
    """All tensors that are attributes of modules, each once."""
    refs = {
        id(v): v for each in p.occurrences for v in each.module.attrs.values() if isinstance(v, TensorValue)
    }
    return [*refs.values()]


def _shares_storage(p: Analysis) -> bool:
    if p.has(ir.DerivedTensor, lambda derived: bool(derived.op)):
        return True  # at the start; an assignment to `.data` may part them
    kinds = ("buffer", "scratch", "constant")
    storages = [ref.storage for ref in _state_refs(p) if ref.view or ref.storage.kind in kinds]
    return len(set(storages)) < len(storages)


def _has_tied_tensors(p: Analysis) -> bool:
    seen: dict[int, int] = {}
    modules = {id(each.module): each.module for each in p.occurrences}
    for module in modules.values():
        for value in module.attrs.values():
            if isinstance(value, TensorValue):
                seen[id(value)] = seen.get(id(value), 0) + 1
    return any(count > 1 for count in seen.values())


_FLOWS = {
    "flow.one_value_twice": "one value kept in two occurrences",
    "flow.copied_then_overwritten": "state copied from other state, which is then overwritten",
    "flow.recurrent": "state replaced by a value that was computed from it",
    "flow.read_between": "a new value computed, the old one read, then the new one written",
    "flow.returned_then_written": "a module returns state that it wrote to, and its caller writes to it",
    "flow.alias_written": "one of two inputs that share memory written, a view of that memory returned",
}
"""Mark of the machine -> the meaning of its tag."""


TABLE: dict[str, Tag] = {
    "state.parameter": Tag("an nn.Parameter", has_node(ir.TensorAttr, kind="parameter")),
    "state.frozen": Tag("a parameter that requires no gradient", has_node(ir.TensorAttr, frozen=True)),
    "state.buffer": Tag("a persistent buffer", has_node(ir.TensorAttr, kind="buffer")),
    "state.scratch": Tag("a non-persistent buffer", has_node(ir.TensorAttr, kind="scratch")),
    "state.constant": Tag("a tensor that is a plain attribute", has_node(ir.TensorAttr, kind="constant")),
    "state.held": Tag(
        "tensors in a plain list or dict",
        has_node(ir.TensorContainer, lambda held: held.kind in ("list", "dict")),
    ),
    "state.parameter_container": Tag(
        "an nn.ParameterList or nn.ParameterDict",
        has_node(ir.TensorContainer, lambda held: held.kind not in ("list", "dict")),
    ),
    "state.held_parameter": Tag(
        "a parameter in a plain list or dict",
        has_node(
            ir.TensorContainer,
            lambda held: held.kind in ("list", "dict") and any(t.kind == "parameter" for t in held.items),
        ),
    ),
    "state.integer": Tag(
        "an integer tensor as state", has_node(ir.TensorAttr, lambda t: t.fill.dtype.startswith("int"))
    ),
    "state.half": Tag(
        "a float16 or bfloat16 tensor as state",
        has_node(ir.TensorAttr, lambda t: t.fill.dtype in ("float16", "bfloat16")),
    ),
    "state.bool": Tag("a bool tensor as state", has_node(ir.TensorAttr, lambda t: t.fill.dtype == "bool")),
    **{
        f"state.{layout}": Tag(f"{word} as state", has_node(ir.TensorAttr, layout=layout))
        for layout, word in (
            ("transposed", "a transposed tensor"),
            ("sliced", "a tensor with holes"),
            ("offset", "a tensor that starts after the beginning of its storage"),
            ("real", "the real part of a complex tensor"),
        )
    },
    "state.reinterpreted": Tag(
        "a tensor of the state seen as another dtype",
        has_node(ir.DerivedTensor, lambda d: d.op in ("view_as_real", "view_float", "bits")),
    ),
    "state.scaled": Tag(
        "an instance with its own initial values", has_node(ir.New, lambda n: n.scale != 1.0)
    ),
    "state.tied": Tag("one tensor under two names", _has_tied_tensors),
    "state.one_storage": Tag(
        "buffers or constants that share a storage, with a parameter or each other", _shares_storage
    ),
    "state.view_of_parameter": Tag(
        "a buffer or constant that is a view of a parameter",
        lambda p: any(ref.view and ref.storage.kind == "parameter" for ref in _state_refs(p)),
    ),
    "state.registered_again": Tag(
        "a tensor registered under a second name", has_node(ir.DerivedTensor, lambda d: not d.op)
    ),
    "state.read_child": Tag(
        "a tensor of a child read by its parent", has_node(ir.Attr, lambda a: len(a.path) > 1)
    ),
    "state.unused_parameter": Tag(
        "a parameter that nothing reads",
        lambda p: any(
            isinstance(init, ir.TensorAttr) and init.kind == "parameter" and id(init) not in p.trace.used
            for cls in p.classes
            for init in cls.init
        ),
    ),
    "state.running_statistics": Tag(
        "batch norm in train mode",
        lambda p: p.program.training and p.has(ir.New, lambda n: n.layer and n.name.startswith("batch_norm")),
    ),
    "state.updated_here_read_there": Tag(
        "a buffer written by one module and read by another", marked("state.updated_here_read_there")
    ),
    "state.rebound": Tag("a buffer or tensor attribute rebound", marked("state.rebound")),
    "state.grown": Tag("rebound to a larger tensor, as a growing cache", marked("state.grown")),
    **{name: Tag(meaning, marked(name)) for name, meaning in _FLOWS.items()},
    "state.rebound_shape": Tag("rebound to another shape", marked("state.rebound_shape")),
    "state.rebound_dtype": Tag("rebound to another dtype", marked("state.rebound_dtype")),
    "state.rebound_to_input": Tag("rebound to an input", marked("state.rebound_to_input")),
    "state.rebound_to_state": Tag("rebound to other state", marked("state.rebound_to_state")),
    "state.handed_over": Tag(
        "a tensor attribute of a child set by its parent", has_node(ir.SetAttr, lambda s: len(s.path) > 1)
    ),
    "state.unset": Tag("a tensor attribute that is None at first", has_node(ir.UnsetTensor)),
    "state.set_once": Tag(
        "an attribute that forward sets if it is None",
        has_node(ir.If, lambda s: s.test.name == "is_none" and bool(ir.of_type(s.then, ir.SetAttr))),
    ),
    "state.swapped": Tag("two tensor attributes swapped", has_node(ir.Swap)),
    "state.created_in_forward": Tag("an attribute that forward creates", marked("state.created_in_forward")),
    "state.written_without_grad": Tag(
        "state updated under no_grad",
        lambda p: any(not w.grad_mode and w.kind not in ("", "input") for w in p.writes),
    ),
}
