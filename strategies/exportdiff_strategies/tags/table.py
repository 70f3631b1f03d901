"""The table of tags: what a Program contains and does, with a line of explanation each.

To add a tag, add one entry to TAGS. The detector of a tag reads the finished Program and a run of it on
types, so that a tag states what the Program contains, whatever was meant to be drawn.
"""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.conditions import COMPUTED_MEASURES, CONDS, MEASURES, MODES, RELATIONS
from exportdiff_strategies.constants import ODD_TEXTS
from exportdiff_strategies.control import CONTROLS
from exportdiff_strategies.layers import LAYERS
from exportdiff_strategies.naming import ARGUMENTS
from exportdiff_strategies.ops import OPS
from exportdiff_strategies.regions import HOOKS, PARAMETRIZATIONS
from exportdiff_strategies.tags.calls import (
    calls_related_modules,
    calls_twice,
    child_takes,
    drops_call,
    has_infinite_float,
    only_writes_argument,
    passes_flag_down,
    returns_nothing,
)
from exportdiff_strategies.tags.control import (
    branches_on_size,
    calls_module,
    fails_in_operator,
    has_elif,
    operator_calls_module,
    operator_reads_state,
    returns_early,
)
from exportdiff_strategies.tags.hierarchy import (
    at_two_depths,
    callers,
    depth,
    has_two_names,
    has_two_parents,
    never_called,
    uses_slice,
)
from exportdiff_strategies.tags.interface import (
    dynamic_shapes_are,
    has_input_container,
    has_input_dtype,
    has_input_layout,
    has_input_of,
    has_input_shape,
    has_other_keys,
    has_value_in_container,
    passes_extra_arguments,
    records,
    returns_container,
    returns_duplicate,
    returns_empty,
    returns_nested,
    returns_no_tensor,
    returns_python,
    returns_role,
    takes_other_type,
    tensor_inputs,
)
from exportdiff_strategies.tags.names import named_alike, named_as_operator, named_as_torch
from exportdiff_strategies.tags.nodes import (
    has_condition,
    has_measure,
    has_node,
    has_operator,
    has_region,
    marked,
    runs_group,
    runs_op,
)
from exportdiff_strategies.tags.operations import (
    binds_written,
    is_pair,
    reads_transposed,
    writes_around_call,
    writes_in_one_branch,
    writes_to_detached,
    writes_to_literal,
    writes_to_result,
    wrote_to,
)
from exportdiff_strategies.tags.state import (
    has_tied_tensors,
    has_unused_parameter,
    has_view_of_parameter,
    shares_storage,
    updates_running_statistics,
)
from exportdiff_strategies.tags.tag import Tag
from exportdiff_strategies.values import CollectionValue

_CONDITIONS = {
    "truthy": "a branch on the truth of a flag, a number or *args",
    "not": "a branch on a negated flag",
    "equals": "a branch on equality with a constant",
    "in": "a branch on membership in a tuple of constants",
    "is_member": "a branch on the member of an enumeration",
    "length": "a branch on the length of a torch.Size",
    "above": "a branch on a comparison of a Python int",
    "is_none": "a branch on `is None`",
    "is_given": "a branch on `is not None`",
    "is_tensor": "a branch on isinstance of torch.Tensor",
    "is_tuple": "a branch on isinstance of tuple",
    "has_key": "a branch on a key in **options",
    "training": "a branch on self.training",
    "size": "a branch on x.shape",
    "even_size": "a branch on whether a size is even",
    "size_is": "a branch on equality of a size with a constant",
    "numel": "a branch on x.numel()",
    "rank": "a branch on x.dim()",
    "dtype": "a branch on x.dtype",
    "contiguous": "a branch on x.is_contiguous()",
    "stride": "a branch on x.stride()",
    "requires_grad": "a branch on x.requires_grad",
    "same": "a branch on `a is b` of two tensors",
    "other": "a branch on `a is not b` of two tensors",
    "grad_enabled": "a branch on torch.is_grad_enabled()",
}
"""Name of a condition -> the meaning of its tag."""
assert _CONDITIONS.keys() == CONDS.keys() | MODES.keys() | RELATIONS.keys()

_METADATA_OPS = (
    *("t_", "transpose_", "swapaxes_", "squeeze_", "unsqueeze_"),
    *("resize_", "as_strided_", "set_", "set_data", "requires_grad_", "detach_"),
)
"""The in-place ops on metadata that have a tag."""
_VALUE_OPS = (
    *("add_", "copy_", "clamp_", "relu_", "f_relu_", "masked_fill_"),
    *("index_put_", "scatter_", "zero_"),
)
"""The in-place ops on values that have a tag."""

_FLOWS = {
    "flow.one_value_twice": "one value kept in two places",
    "flow.copied_then_overwritten": "state copied from other state, which is then overwritten",
    "flow.recurrent": "state replaced by a value that was computed from it",
    "flow.read_between": "a new value computed, the old one read, then the new one written",
    "flow.returned_then_written": "a module returns state that it wrote to, and its caller writes to it",
    "flow.alias_written": "one of two inputs that share memory written, a view of that memory returned",
}
"""Mark of the machine -> the meaning of its tag."""

TAGS: dict[str, Tag] = {
    "hierarchy.flat": Tag("the root is the only module class", lambda p: depth(p) == 1),
    "hierarchy.depth2": Tag("two levels of module classes", lambda p: depth(p) == 2),
    "hierarchy.depth3": Tag("three levels of module classes", lambda p: depth(p) == 3),
    "hierarchy.depth4": Tag("four levels of module classes", lambda p: depth(p) == 4),
    "hierarchy.shared": Tag("one instance under two attributes of one module", has_two_names),
    "hierarchy.two_parents": Tag("one instance under attributes of two modules", has_two_parents),
    "hierarchy.alias_levels": Tag("one instance at two depths", at_two_depths),
    "hierarchy.recursive": Tag(
        "one instance called by two modules", lambda p: any(len(c) > 1 for c in callers(p).values())
    ),
    "hierarchy.guest": Tag(
        "an existing module passed to a constructor", has_node(ir.New, lambda n: bool(n.guest))
    ),
    "hierarchy.module_list": Tag(
        "an nn.ModuleList", has_node(ir.Container, lambda c: c.kind == "ModuleList")
    ),
    "hierarchy.module_dict": Tag(
        "an nn.ModuleDict", has_node(ir.Container, lambda c: c.kind == "ModuleDict")
    ),
    "hierarchy.sequential": Tag("an nn.Sequential", has_node(ir.Container, lambda c: c.kind == "Sequential")),
    "hierarchy.plain_container": Tag(
        "modules in a plain list or dict", has_node(ir.Container, lambda c: c.kind in ("list", "dict"))
    ),
    "hierarchy.aside": Tag(
        "a module in an attribute that is not registered", has_node(ir.Bind, lambda b: b.aside)
    ),
    "hierarchy.copied": Tag("copy.copy of a module", has_node(ir.CopiedModule, lambda c: not c.deep)),
    "hierarchy.deep_copied": Tag("copy.deepcopy of a module", has_node(ir.CopiedModule, lambda c: c.deep)),
    "hierarchy.nested_container": Tag(
        "a container in a container",
        has_node(ir.Container, lambda c: any(isinstance(item, ir.Container) for item in c.items)),
    ),
    "hierarchy.sliced": Tag("part of a container iterated or called", uses_slice),
    "hierarchy.never_called": Tag("a module that nothing calls", never_called),
    "hierarchy.no_op_child": Tag("a call of a child that runs no tensor op", marked("hierarchy.no_op_child")),
    "hierarchy.graph_root": Tag("an fx.GraphModule as the model", lambda p: p.program.graph),
    "hierarchy.graph_root_containers": Tag(
        "an fx.GraphModule as the model, with a container", lambda p: p.program.graph and p.has(ir.Container)
    ),
    "hierarchy.graph_module": Tag("an fx.GraphModule child", has_node(ir.Child, lambda c: c.traced)),
    "hierarchy.hook": Tag("a forward hook", has_node(ir.Hook, lambda h: not HOOKS[h.name].before)),
    "hierarchy.pre_hook": Tag("a forward pre-hook", has_node(ir.Hook, lambda h: HOOKS[h.name].before)),
    "hierarchy.parametrized": Tag("torch.nn.utils.parametrize on a module", has_node(ir.Parametrize)),
    **{
        f"hierarchy.{name}": Tag(
            f"the parametrization {name}", has_node(ir.Parametrize, lambda p, name=name: p.name == name)
        )
        for name in PARAMETRIZATIONS
    },
    **{
        f"layer.{name}": Tag(
            f"the layer {name} of nn", has_node(ir.New, lambda n, name=name: n.layer and n.name == name)
        )
        for name in LAYERS
    },
    "calls.repeated": Tag("a module called twice", lambda p: calls_twice(p, False)),
    "calls.other_flags": Tag(
        "a module called twice with different Python arguments", lambda p: calls_twice(p, True)
    ),
    "calls.flags_two_levels": Tag(
        "Python arguments that differ between calls, two levels down", lambda p: calls_twice(p, True, 2)
    ),
    "calls.flags_three_levels": Tag(
        "Python arguments that differ between calls, three levels down", lambda p: calls_twice(p, True, 3)
    ),
    "calls.bool": Tag("a child takes a bool", child_takes("bool")),
    "calls.int": Tag("a child takes an int", child_takes("int")),
    "calls.float": Tag("a child takes a float", child_takes("float")),
    "calls.infinite": Tag("a float that is infinite or NaN", has_infinite_float),
    "calls.str": Tag("a child takes a str", child_takes("str")),
    "calls.enum": Tag("a child takes a member of an enumeration", child_takes("enum")),
    "calls.enum_base": Tag(
        "an enumeration derived from Flag, int or str",
        lambda p: p.program.enum != "Enum",
    ),
    "calls.size": Tag("a child takes a torch.Size", child_takes("size")),
    "calls.keyword_only": Tag("keyword-only arguments", has_node(ir.Arg, lambda a: a.keyword)),
    "calls.unnamed": Tag("positional-only arguments", has_node(ir.Arg, lambda a: a.unnamed)),
    "calls.optional": Tag("a child takes an optional tensor", child_takes("optional")),
    "calls.group": Tag(
        "a child takes a tuple, list, dict, namedtuple or dataclass",
        child_takes("tuple", "list", "dict", "named", "data"),
    ),
    "calls.either": Tag("a child takes a tensor or a tuple", child_takes("either")),
    "calls.rest": Tag("a child takes *args", child_takes("rest")),
    "calls.options": Tag("a child takes **kwargs", child_takes("options")),
    "calls.star": Tag("*args or **kwargs passed on", has_node(ir.Star)),
    "calls.keyword": Tag("an argument by keyword", has_node(ir.CallModule, lambda c: bool(c.kwargs))),
    "calls.keyword_order": Tag("arguments by keyword in another order", marked("calls.keyword_order")),
    "calls.default": Tag("an argument of a child that takes its default", marked("calls.default")),
    "calls.none": Tag(
        "None passed for an optional tensor",
        has_node(ir.CallModule, lambda c: ir.Lit(None) in (*c.args, *(value for _, value in c.kwargs))),
    ),
    "calls.passed_down": Tag("a flag of the caller passed on", passes_flag_down),
    "calls.deep": Tag("a call of a submodule of a child", marked("calls.deep")),
    "calls.expression": Tag(
        "an argument of a call that is an expression",
        has_node(ir.CallModule, lambda c: bool(c.args) and isinstance(c.args[0], ir.Op)),
    ),
    "calls.family": Tag(
        "a module and one of its submodules called by the same caller", calls_related_modules
    ),
    "calls.own_state": Tag("a module called with a tensor of its own", marked("calls.own_state")),
    "calls.dropped": Tag(
        "a call that ignores the result", lambda p: any(drops_call(cls) for cls in p.classes)
    ),
    "calls.loop": Tag("a loop over a container", has_node(ir.Loop)),
    "calls.method": Tag("a method that is not forward", has_node(ir.MethodDef)),
    "calls.method_calls_forward": Tag(
        "a method that calls self.forward",
        has_node(
            ir.MethodDef,
            lambda m: any(
                c.callee == () and c.method == "forward" for c in ir.of_type(m.body, ir.CallModule)
            ),
        ),
    ),
    "calls.forward_directly": Tag("module.forward called without hooks", marked("calls.forward_directly")),
    "calls.function": Tag("a function of torch passed down", has_node(ir.Function)),
    "calls.bound_method": Tag("a module or a bound method passed down", has_node(ir.ModuleOrMethod)),
    "calls.applied": Tag("a function or module that was passed in is called", has_node(ir.CallVariable)),
    "calls.no_result": Tag("a child that returns None", returns_nothing),
    "calls.writes_argument": Tag("a child that only writes to an argument", only_writes_argument),
    "calls.untouched": Tag("a child returns an argument unchanged", marked("calls.untouched")),
    "calls.item": Tag("an item of a container used", has_node(ir.Item)),
    "calls.group_result": Tag(
        "a child returns a container",
        lambda p: any(
            isinstance(r.value, ir.Collection)
            for cls in p.classes[:-1]
            for r in ir.of_type(cls.body, ir.Return)
        ),
    ),
    **{f"control.{name}": Tag(meaning, has_condition(name)) for name, meaning in _CONDITIONS.items()},
    "control.else": Tag("a branch with an else", has_node(ir.If, lambda s: bool(s.orelse))),
    "control.elif": Tag("a branch with an elif", has_elif),
    "control.match": Tag("a match statement", has_node(ir.If, lambda s: s.match)),
    "control.ternary": Tag("a conditional expression", has_node(ir.Ternary)),
    "control.early_return": Tag("a return inside a branch", returns_early),
    "control.range": Tag("a for over a range", has_node(ir.Repeat, lambda r: r.style == "for")),
    "control.while": Tag("a while on a Python counter", has_node(ir.Repeat, lambda r: r.style == "while")),
    "control.size_as_number": Tag(
        "a size or rank of a tensor as a Python int",
        has_node(ir.Measure, lambda n: n.name in ("rank", "first_size", "last_size", "length")),
    ),
    "control.size_arithmetic": Tag(
        "Python arithmetic on a size: math.floor, round, min, division",
        lambda p: p.has(ir.Measure, lambda n: n.name in COMPUTED_MEASURES) or "size" in p.op_groups,
    ),
    "control.stride_as_number": Tag("x.stride(0) as a Python int", has_measure("first_stride")),
    "control.number_of_data": Tag(
        "a Python int read from data", has_node(ir.Measure, lambda m: MEASURES[m.name].of_data)
    ),
    "control.numel_as_number": Tag("x.numel() as a Python int", has_measure("numel")),
    "control.try": Tag("an exception that is caught", has_node(ir.Try)),
    "control.try_operator": Tag("an operator that raises, in a try", has_node(ir.Try, fails_in_operator)),
    "control.try_module": Tag("a module that raises, called in a try", has_node(ir.Try, calls_module)),
    "control.raise": Tag(
        "a module that raises for some arguments",
        has_node(ir.If, lambda s: bool(ir.of_type(s.then, ir.Fail))),
    ),
    "control.attribute": Tag(
        "a Python attribute of the module read",
        lambda p: any(isinstance(n, ir.Attr) and n.path[-1] in ("step", "mode", "rate") for n in p.nodes),
    ),
    "control.rate": Tag(
        "a Python float of the module as an operand",
        lambda p: any(isinstance(n, ir.Attr) and n.path[-1] == "rate" for n in p.nodes),
    ),
    "control.counter": Tag("a Python attribute of the module updated", has_node(ir.Increment)),
    "state.parameter": Tag("an nn.Parameter", has_node(ir.TensorAttr, lambda t: t.kind == "parameter")),
    "state.frozen": Tag("a parameter that requires no gradient", has_node(ir.TensorAttr, lambda t: t.frozen)),
    "state.buffer": Tag("a persistent buffer", has_node(ir.TensorAttr, lambda t: t.kind == "buffer")),
    "state.scratch": Tag("a non-persistent buffer", has_node(ir.TensorAttr, lambda t: t.kind == "scratch")),
    "state.constant": Tag(
        "a tensor that is a plain attribute", has_node(ir.TensorAttr, lambda t: t.kind == "constant")
    ),
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
    "state.bool": Tag("a bool tensor as state", has_node(ir.TensorAttr, lambda t: t.fill.dtype == "bool")),
    **{
        f"state.{layout}": Tag(
            f"{word} as state", has_node(ir.TensorAttr, lambda t, layout=layout: t.layout == layout)
        )
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
    "state.tied": Tag("one tensor under two names", has_tied_tensors),
    "state.one_storage": Tag(
        "buffers or constants that share a storage, with a parameter or each other", shares_storage
    ),
    "state.view_of_parameter": Tag(
        "a buffer or constant that is a view of a parameter", has_view_of_parameter
    ),
    "state.registered_again": Tag(
        "a tensor registered under a second name", has_node(ir.DerivedTensor, lambda d: not d.op)
    ),
    "state.read_child": Tag(
        "a tensor of a child read by its parent", has_node(ir.Attr, lambda a: len(a.path) > 1)
    ),
    "state.unused_parameter": Tag("a parameter that nothing reads", has_unused_parameter),
    "state.running_statistics": Tag("batch norm in train mode", updates_running_statistics),
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
    "inplace.value": Tag("an in-place op on values", lambda p: any(w.mutates == "value" for w in p.writes)),
    "inplace.metadata": Tag(
        "an in-place op on metadata", lambda p: any(w.mutates == "metadata" for w in p.writes)
    ),
    "inplace.item": Tag("item assignment", runs_group("inplace.item")),
    "inplace.scatter": Tag("an in-place op with indices", runs_group("inplace.scatter")),
    "inplace.out": Tag("an out= form", runs_group("inplace.out")),
    "inplace.random": Tag("a tensor filled or dropped at random in place", runs_group("inplace.random")),
    "inplace.own_data": Tag("`.data =` a view of itself", runs_group("inplace.own_data")),
    "inplace.storage": Tag("an in-place op on the storage", runs_group("inplace.storage")),
    **{
        f"inplace.{name}": Tag(f"the op {name}", runs_op(name))
        for name in (*_VALUE_OPS, *_METADATA_OPS)
        if name in OPS
    },
    "inplace.input": Tag("an input of the model mutated", wrote_to("input")),
    "inplace.buffer": Tag("a buffer mutated", wrote_to("buffer", "scratch")),
    "inplace.constant": Tag("a constant mutated", wrote_to("constant")),
    "inplace.parameter": Tag("a parameter mutated", wrote_to("parameter")),
    "inplace.intermediate": Tag("an intermediate mutated", wrote_to("")),
    "inplace.view": Tag("a view mutated", lambda p: any(w.view for w in p.writes)),
    "inplace.view_on_the_spot": Tag(
        "a view mutated in the expression that makes it", has_node(ir.Op, writes_to_result)
    ),
    "inplace.detached": Tag(
        "a detached tensor mutated",
        has_node(ir.Op, writes_to_detached),
    ),
    "inplace.read_back": Tag("sizes or strides changed in place and then read", marked("inplace.read_back")),
    "inplace.result": Tag("the result of an in-place op bound to a name", binds_written),
    "inplace.overlapping": Tag("two tensors that share memory, both written", marked("inplace.overlapping")),
    "inplace.read_through_alias": Tag(
        "a write through one tensor, then a read through another that shares its memory",
        marked("inplace.read_through_alias"),
    ),
    "inplace.across_modules": Tag(
        "a module writes to a tensor that another module made", marked("inplace.across_modules")
    ),
    "inplace.before_call": Tag("a write, then a call of a submodule", lambda p: writes_around_call(p, True)),
    "inplace.after_call": Tag("a call of a submodule, then a write", lambda p: writes_around_call(p, False)),
    "inplace.one_branch": Tag("a write on one side of a branch only", writes_in_one_branch),
    **{
        f"op.{group}": Tag(f"an op of the group {group}", runs_group(group))
        for group in dict.fromkeys(spec.group for spec in OPS.values())
        if not group.startswith("inplace")
    },
    "op.results": Tag("an op that returns a named tuple", has_node(ir.Results)),
    "op.pair": Tag("an op on the results of two similar ops on the same tensor", has_node(ir.Op, is_pair)),
    "op.turned": Tag("an op on the result of a transposing op", has_node(ir.Op, reads_transposed)),
    "inplace.literal": Tag(
        "a tensor literal in forward that is mutated at once", has_node(ir.Op, writes_to_literal)
    ),
    "dynamic.rest": Tag(
        "dynamic shapes, and *args given", lambda p: passes_extra_arguments(p, p.program.args)
    ),
    "dynamic.options": Tag(
        "dynamic shapes, and **kwargs given", lambda p: passes_extra_arguments(p, p.program.kwargs)
    ),
    "names.of_torch": Tag("an attribute or child with a name that torch uses itself", named_as_torch),
    "names.operator": Tag("an attribute named like an operator", named_as_operator),
    "names.prefix": Tag("a child whose name begins with that of a sibling", named_alike),
    "names.argument": Tag(
        "an argument of the model named like a name in the code of a graph",
        lambda p: any(arg.name in ARGUMENTS for arg in p.root.args),
    ),
    "names.keys": Tag("a dict with keys that are no text", has_other_keys),
    "names.fields": Tag(
        "a namedtuple or dataclass with unusual field names",
        lambda p: any(g.keys != ir.FIELDS for g in records(p)),
    ),
    "input.same_twice": Tag(
        "one tensor passed twice", lambda p: any(isinstance(i, ir.AliasInput) and not i.op for i in p.inputs)
    ),
    "input.view_of_another": Tag(
        "one input a view of another",
        lambda p: any(isinstance(i, ir.AliasInput) and bool(i.op) for i in p.inputs),
    ),
    "input.transposed": Tag("a transposed input", has_input_layout("transposed")),
    "input.sliced": Tag("an input with holes", has_input_layout("sliced")),
    "input.offset": Tag(
        "an input that starts after the beginning of its storage", has_input_layout("offset")
    ),
    "input.expanded": Tag("an expanded input", has_input_layout("expanded")),
    "input.windows": Tag("an input of windows that overlap", has_input_layout("windows")),
    "input.real": Tag("an input that is the real part of a complex tensor", has_input_layout("real")),
    "input.negative": Tag("an input that is negated when it is read", has_input_layout("negative")),
    "input.conjugate": Tag("an input that is conjugated when it is read", has_input_layout("conjugate")),
    "input.computed": Tag(
        "an input that is no leaf of autograd", lambda p: any(t.history for t in tensor_inputs(p))
    ),
    "input.view_of_leaf": Tag(
        "an input that is a view of a leaf of autograd",
        lambda p: any(t.history == "view of leaf" for t in tensor_inputs(p)),
    ),
    "input.overlapping": Tag(
        "an input that overlaps with part of another",
        lambda p: any(isinstance(i, ir.AliasInput) and i.op == "rows" for i in p.inputs),
    ),
    "input.scalar": Tag("a 0-d input", has_input_shape(lambda s: not s)),
    "input.empty": Tag("an empty input", has_input_shape(lambda s: 0 in s)),
    "input.size1": Tag("an input with a dimension of size 1", has_input_shape(lambda s: 1 in s)),
    **{
        f"input.{dtype}": Tag(f"a {dtype} input", has_input_dtype(dtype))
        for dtype in ("float16", "bfloat16", "float64", "int64", "bool", "complex64")
    },
    "input.requires_grad": Tag(
        "an input that requires grad", lambda p: any(t.requires_grad for t in tensor_inputs(p))
    ),
    **{
        f"input.{kind}": Tag(f"a {word} as input", has_input_container(kind))
        for kind, word in (
            *(("tuple", "tuple"), ("list", "list"), ("dict", "dict")),
            *(("named", "namedtuple"), ("data", "registered dataclass")),
        )
    },
    "input.none": Tag("None as input", has_input_of(type(None))),
    "input.bool_flag": Tag("a Python bool as input", has_input_of(bool)),
    "input.number": Tag("a Python int as input", has_input_of(int)),
    "input.float": Tag("a Python float as input", has_input_of(float)),
    "input.string": Tag("a string as input", has_input_of(str)),
    "input.odd_text": Tag(
        "a string as input that needs quoting",
        lambda p: any(isinstance(i, ir.Lit) and i.value in ODD_TEXTS for i in p.inputs),
    ),
    "input.enum": Tag("a member of an enumeration as input", has_input_of(ir.Kind)),
    "input.size": Tag("a torch.Size as input", has_input_of(ir.Size)),
    "input.value": Tag("a container of inputs that are not only tensors", has_value_in_container),
    "input.other_type": Tag(
        "a Python number of another type than the argument is meant for", takes_other_type
    ),
    "input.keyword": Tag("an input by keyword", lambda p: bool(p.program.kwargs)),
    "model.training": Tag("exported in train mode", lambda p: p.program.training),
    **{
        f"output.{kind}": Tag(f"a {word} returned", returns_container(kind))
        for kind, word in (
            *(("tuple", "tuple"), ("list", "list"), ("dict", "dict")),
            *(("named", "namedtuple"), ("data", "registered dataclass")),
        )
    },
    "output.result": Tag(
        "a named tuple of torch returned, as that of x.max(0)",
        lambda p: any(
            isinstance(part, CollectionValue) and part.kind == "result"
            for _, result in p.trace.results
            for part in (result, *(result.items.values() if isinstance(result, CollectionValue) else ()))
        ),
    ),
    "output.nested": Tag("a container in a container returned", returns_nested),
    "output.duplicate": Tag("one tensor returned twice", returns_duplicate),
    "output.input": Tag("an input returned", returns_role("input")),
    "output.view_of_input": Tag("a view of an input returned", returns_role("view of input")),
    "output.buffer": Tag("a buffer returned", returns_role("buffer", "scratch")),
    "output.view_of_buffer": Tag(
        "a view of a buffer returned", returns_role("view of buffer", "view of scratch")
    ),
    "output.parameter": Tag("a parameter returned", returns_role("parameter")),
    "output.constant": Tag("a constant returned", returns_role("constant")),
    "output.none": Tag("None returned", lambda p: any(leaf is None for leaf, _ in p.outputs)),
    "output.number": Tag("a Python number returned", returns_python(bool, int, float)),
    "output.text": Tag("a text returned", returns_python(str)),
    "output.enum": Tag("a member of an enumeration returned", returns_python(ir.Kind)),
    "output.size": Tag("a torch.Size returned", returns_python(ir.Size)),
    "output.empty": Tag("an empty container returned", returns_empty),
    "output.no_tensor": Tag("no tensor returned", returns_no_tensor),
    "region.no_grad": Tag("torch.no_grad", has_region("no_grad")),
    "region.whole": Tag(
        "a with block around everything that the model does",
        lambda p: len(p.root.body) == 1 and isinstance(p.root.body[0], ir.With),
    ),
    "region.decorator": Tag(
        "a with block as a decorator of forward", has_node(ir.With, lambda w: w.decorator)
    ),
    "region.written": Tag("state or operands written in a control-flow operator", marked("region.written")),
    "region.enable_grad": Tag("torch.enable_grad", has_region("enable_grad")),
    "region.inference_mode": Tag("torch.inference_mode", has_region("inference_mode")),
    "region.autocast": Tag("torch.autocast", has_region("autocast")),
    "region.annotate": Tag("torch.fx.traceback.annotate", has_region("annotate")),
    "region.checkpoint": Tag(
        "torch.utils.checkpoint", has_node(ir.CallModule, lambda c: c.form == "checkpoint")
    ),
    **{f"region.{name}": Tag(f"the operator {name}", has_operator(name)) for name in CONTROLS},
    "region.submodule": Tag(
        "a submodule called in a control-flow operator", lambda p: operator_calls_module(p, False)
    ),
    "region.shared_submodule": Tag(
        "a submodule called in both branches of a cond", lambda p: operator_calls_module(p, True)
    ),
    "region.control": Tag(
        "a control-flow operator in a with block",
        has_node(ir.With, lambda w: bool(ir.of_type(w.body, ir.Control))),
    ),
    "region.checkpoint_within": Tag(
        "torch.utils.checkpoint in a control-flow operator",
        has_node(
            ir.Control,
            lambda c: any(call.form == "checkpoint" for call in ir.of_type(c.functions, ir.CallModule)),
        ),
    ),
    "region.state": Tag("state read in a control-flow operator", operator_reads_state),
    "dynamic.named": Tag("a Dim", dynamic_shapes_are(lambda d: d.dims[0].kind == "named")),
    "dynamic.range": Tag("a Dim with a range", dynamic_shapes_are(lambda d: d.dims[0].low is not None)),
    "dynamic.auto": Tag("Dim.AUTO", dynamic_shapes_are(lambda d: d.dims[0].kind == "auto")),
    "dynamic.dynamic": Tag("Dim.DYNAMIC", dynamic_shapes_are(lambda d: d.dims[0].kind == "dynamic")),
    "dynamic.equal": Tag(
        "two dynamic sizes that are equal",
        dynamic_shapes_are(lambda d: sum(name == "n" for _, _, name in d.places) > 1),
    ),
    "dynamic.second": Tag(
        "a second dynamic size", dynamic_shapes_are(lambda d: len(d.dims) > 1 and not d.dims[1].base)
    ),
    "dynamic.derived": Tag(
        "a dynamic size that follows from another", dynamic_shapes_are(lambda d: any(x.base for x in d.dims))
    ),
    "dynamic.branch": Tag("a branch on a size, with dynamic shapes", branches_on_size),
    "dynamic.zero": Tag("a probe of size 0", dynamic_shapes_are(lambda d: any(0 in p for p in d.probes))),
    "dynamic.one": Tag("a probe of size 1", dynamic_shapes_are(lambda d: any(1 in p for p in d.probes))),
    "dynamic.edge": Tag(
        "a probe at an edge of the range",
        dynamic_shapes_are(lambda d: any(p[0] in (d.dims[0].low, d.dims[0].high) for p in d.probes)),
    ),
}
"""Every tag by its name."""
