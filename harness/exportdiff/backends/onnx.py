"""ONNX: torch.onnx.export converts an exported program, and ONNX Runtime runs the result."""

from __future__ import annotations

import functools
import inspect
import re
import tempfile
from typing import TYPE_CHECKING, Any

from exportdiff.judging.exemptions.backend import Backend

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Callable

    from exportdiff.judging.exemptions.limits.limit import Comparison

backend = Backend(
    "onnx",
    install="pip install 'exportdiff[onnx]'",
    requires=("onnx", "onnxscript", "onnxruntime"),
    packages=("onnx", "onnxscript", "onnxruntime"),
    promises=("dynamic sizes", "keyword order"),
    decomposes=True,
    cost=1100,
    # ONNX Runtime fuses operators, and approximates exp, tanh and erf.
    tolerance={
        "float32": (1e-5, 1e-6),
        "float64": (1e-5, 1e-6),
        "float16": (4e-3, 1e-5),
        "bfloat16": (3e-2, 1e-5),
    },
)

backend.refuses(
    "operator-not-converted",
    "torch.onnx.OnnxExporterError",
    "docs.pytorch.org, torch.onnx, 'ONNX Operators': the operators that the exporter converts; "
    "torch/onnx/_internal/exporter/_dispatching.py",
    pattern=r"No ONNX function found for|No decompositions registered for",
)
backend.refuses(
    "no-kernel",
    "onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented",
    "github.com/microsoft/onnxruntime, docs/OperatorKernels.md: the types that each kernel takes",
)
backend.refuses(
    "bfloat16-of-operator",
    "onnxruntime.capi.onnxruntime_pybind11_state.InvalidGraph",
    "github.com/onnx/onnx, docs/Operators.md: the type constraints of each operator",
    pattern=r"Type 'tensor\(bfloat16\)' of input parameter",
)
backend.refuses(
    "attention-of-other-ranks",
    "AssertionError",
    "github.com/microsoft/onnxscript/pull/2558: 'unsupport Q, K, and V when they are not 4D'",
    pattern=r"^only 4D query, key, and value are supported",
)


@backend.limit(
    says="The converted model does not check whether sizes are in the range that export inferred.",
    documented="torch/onnx/_internal/exporter/_fx_passes.py, remove_assertion_nodes: 'Remove all assertion "
    "and check nodes from the FX graph'",
)
def sizes_are_not_checked(compared: Comparison) -> bool:
    """Whether it shows in a probe with sizes that export may refuse."""
    return compared.in_unpromised_probe


@backend.prepare
def read_translations_once() -> None:
    """Remember what onnxscript reads from the text of each function that translates an operator.

    Each call of torch.onnx.export reads all 550 of them again, which takes longer than the conversion.
    """
    from onnxscript.values import TracedOnnxFunction

    read = vars(TracedOnnxFunction).get("function_ir")
    if isinstance(read, property) and read.fget is not None:  # it is private, and may become another thing
        type.__setattr__(TracedOnnxFunction, "function_ir", property(functools.cache(read.fget)))


@backend.runner
def program(ep: Any) -> Callable[..., object]:
    """Convert and optimize; call the program that torch.onnx.export returns."""

    made = _converted(ep)
    _in_plain_words(made.initialize_inference_session)

    def run(*args: Any, **kwargs: Any) -> object:
        return _restored(ep, _in_plain_words(made, *args, **kwargs))

    return run


@backend.runner
def plain(ep: Any) -> Callable[..., object]:
    """Convert without optimizing; call the program that torch.onnx.export returns."""

    made = _converted(ep, optimize=False)
    _in_plain_words(made.initialize_inference_session)

    def run(*args: Any, **kwargs: Any) -> object:
        return _restored(ep, _in_plain_words(made, *args, **kwargs))

    return run


@backend.runner
def file(ep: Any) -> Callable[..., object]:
    """Convert and save to one file; load it into ONNX Runtime, and give it the inputs in order."""
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        _converted(ep, f=f"{folder}/model.onnx", external_data=False)
        session = _in_plain_words(onnxruntime.InferenceSession, f"{folder}/model.onnx")
    return _session(ep, session, by_name=False)


@backend.runner
def external(ep: Any) -> Callable[..., object]:
    """Save the weights in a second file, optimize nothing at runtime; each input is given by its name."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    with tempfile.TemporaryDirectory() as folder:
        _converted(ep, f=f"{folder}/model.onnx", external_data=True)
        session = _in_plain_words(onnxruntime.InferenceSession, f"{folder}/model.onnx", options)
    return _session(ep, session, by_name=True)


@backend.saved
def saved(path: pathlib.Path, model: Any, result: Any) -> Callable[..., object]:
    """A file that somebody else has converted; each input is given by its name, or else in order."""
    import onnxruntime
    import torch

    from exportdiff.runtime.paths.flat_results import in_containers

    session = onnxruntime.InferenceSession(path)
    wanted = [each.name for each in session.get_inputs()]

    def run(*args: Any, **kwargs: Any) -> object:
        made = session.run(None, _fed(wanted, _named_leaves(model, args, kwargs)))
        return in_containers(
            [torch.from_numpy(each) if hasattr(each, "dtype") else each for each in made], result
        )

    return run


def _named_leaves(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers and tensors of a call in the order of the arguments of ``forward``."""
    import torch

    given = inspect.signature(model.forward).bind(*args, **kwargs).arguments
    found: dict[str, Any] = {}
    for name, value in given.items():
        pairs = torch.utils._pytree.tree_flatten_with_path(value)[0]
        for place, leaf in pairs:
            inside = "".join(f"_{getattr(key, 'idx', getattr(key, 'key', key))}" for key in place)
            if isinstance(leaf, torch.Tensor | bool | int | float):
                found[f"{name}{inside}"] = leaf
    return found


def _fed(wanted: list[str], named: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays of the inputs that a session wants. Raises ValueError."""
    import torch

    tensors = [leaf for leaf in named.values() if isinstance(leaf, torch.Tensor)]
    if set(wanted) <= named.keys():
        chosen = [named[name] for name in wanted]
    elif len(wanted) == len(tensors):
        chosen = tensors
    else:
        raise ValueError(f"the file has the inputs {', '.join(wanted)}, the call has {', '.join(named)}")
    return {name: torch.as_tensor(each).numpy(force=True) for name, each in zip(wanted, chosen, strict=True)}


def _converted(ep: Any, **options: Any) -> Any:
    """Convert; of the errors that torch.onnx.export raises one around the other, raise the first."""
    import torch

    try:
        return torch.onnx.export(ep, verbose=False, **options)
    except Exception as error:  # OnnxExporterError, or PassError of the optimizer
        first: BaseException = error
        while first.__cause__ is not None:
            first = first.__cause__
        innermost = first.__traceback__
        while innermost is not None and innermost.tb_next is not None:
            innermost = innermost.tb_next
        raised_in = innermost.tb_frame.f_globals.get("__name__", "") if innermost is not None else ""
        if raised_in.startswith("onnx") and str(first):
            # The frames of torch, which calls onnxscript, are alike for all errors. The text says more.
            first = first.with_traceback(None)
        raise first from None


def _in_plain_words(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call ONNX Runtime; raise its errors without the code and the path of the file before the text.

    They also lose the frames of torch, which call ONNX Runtime and are the same for all errors. What remains
    is alike for a program and for a file, and says what is wrong.
    """
    try:
        return function(*args, **kwargs)
    except Exception as error:
        if not type(error).__module__.startswith("onnxruntime."):
            raise
        code = r"^\[ONNXRuntimeError\] : \d+ : \w+ : (Load model from \S+ failed:)?"
        plain = type(error)(re.sub(code, "", str(error)))
    raise plain


def _session(ep: Any, session: Any, *, by_name: bool) -> Callable[..., object]:
    """Call a session of ONNX Runtime with the tensors and the dynamic numbers of the call, in order."""
    import torch

    wanted = [each.name for each in session.get_inputs()]
    specs = [each.arg for each in ep.graph_signature.input_specs if each.kind.name == "USER_INPUT"]

    def run(*args: Any, **kwargs: Any) -> object:
        ordered = {name: kwargs[name] for name in ep.call_spec.in_spec.child(1).context}
        leaves = ep.call_spec.in_spec.flatten_up_to((args, ordered))
        given = {
            spec.name: torch.as_tensor(leaf)
            for spec, leaf in zip(specs, leaves, strict=True)
            if not isinstance(spec, torch.export.graph_signature.ConstantArgument)
        }
        names = list(given) if by_name else wanted
        return _restored(ep, _results(session, dict(zip(names, given.values(), strict=True))))

    return run


def _results(session: Any, given: dict[str, Any]) -> list[Any]:
    """Run a session with values of ONNX Runtime, because NumPy has no bfloat16."""
    import onnxruntime
    import torch

    number = 16  # onnx.TensorProto.BFLOAT16

    def value_of(tensor: Any) -> Any:
        if tensor.dtype != torch.bfloat16:
            return onnxruntime.OrtValue.ortvalue_from_numpy(tensor.numpy(force=True))
        bits = tensor.contiguous().view(torch.uint16).numpy(force=True)
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, number)

    def tensor_of(value: Any) -> Any:
        if value.element_type() != number:
            return torch.from_numpy(value.numpy()).clone()  # it may be the memory of an input
        return torch.utils.dlpack.from_dlpack(value._get_c_value()).clone()

    values = {name: value_of(each) for name, each in given.items()}
    return [tensor_of(each) for each in _in_plain_words(session.run_with_ort_values, None, values)]


def _restored(ep: Any, outputs: Any) -> object:
    """Put the outputs into the containers of the model, which ONNX does not keep.

    A complex tensor is a real one with a last dimension of 2: torch/onnx/_internal/exporter/_core.py,
    _set_shape_type.
    """
    import torch

    specs = [each for each in ep.graph_signature.output_specs if each.kind.name == "USER_OUTPUT"]
    recorded = {node.name: node.meta.get("val") for node in ep.graph.nodes}
    given, leaves = iter(outputs), []
    for spec in specs:
        fixed = isinstance(spec.arg, torch.export.graph_signature.ConstantArgument)
        leaf = spec.arg.value if fixed else next(given)
        value = None if fixed else recorded.get(spec.arg.name)
        if isinstance(value, torch.Tensor) and value.is_complex() and leaf.shape[value.dim() :] == (2,):
            leaf = torch.view_as_complex(leaf.contiguous())
        is_number = isinstance(spec.arg, torch.export.graph_signature.SymIntArgument)
        leaves.append(leaf.item() if is_number else leaf)
    leaves += list(given)  # more than the model returns: that is a difference
    if len(leaves) != ep.call_spec.out_spec.num_leaves:
        return leaves
    return torch.utils._pytree.tree_unflatten(leaves, ep.call_spec.out_spec)
