"""transformers.exporters: a model of transformers as that library exports it, and runs what it exported.

Its exporters change the model while they export, and register its caches with pytree. What they return takes
keyword arguments, caches among them, as the model does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exportdiff.backends import executorch as of_executorch
from exportdiff.backends import onnx as of_onnx
from exportdiff.judging.exemptions.backend import Backend, Promise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from exportdiff.judging.exemptions.limits.limit import Comparison

# ExecuTorch promises more, but transformers' programs have their state, the cache, as an input.
_PROMISES: tuple[Promise, ...] = ("dynamic sizes", "keyword order")
_INSTALL = "pip install 'exportdiff[zoo]'"


dynamo = Backend(
    "transformers_dynamo",
    install=_INSTALL,
    requires=("transformers",),
    packages=("transformers",),
    promises=_PROMISES,
    cost=1500,
    # Attention is exported with other kernels than eager uses.
    tolerance={"float32": (1e-5, 1e-6), "float64": (1e-12, 1e-13)},
)

onnx = Backend(
    "transformers_onnx",
    install="pip install 'exportdiff[zoo,onnx]'",
    requires=("transformers", *of_onnx.backend.requires),
    packages=("transformers", *of_onnx.backend.packages),
    promises=_PROMISES,
    cost=6000,
    tolerance=of_onnx.backend.tolerance,
)
onnx.refusals = of_onnx.backend.refusals

executorch = Backend(
    "transformers_executorch",
    install="pip install 'exportdiff[zoo,executorch]'",
    requires=("transformers", *of_executorch.backend.requires),
    packages=("transformers", *of_executorch.backend.packages),
    promises=_PROMISES,
    cost=15000,
    tolerance=of_executorch.backend.tolerance,
)
executorch.refusals = of_executorch.backend.refusals


@executorch.limit(
    says="With Dim.AUTO, export may fix a size. The runtime raises an error for other sizes.",
    documented="torch/export/dynamic_shapes.py, Dim: 'the compiler inferring the remaining constraints'; "
    "executorch/runtime/executor/method.cpp, set_input: resize_tensor",
)
def sizes_are_inferred(compared: Comparison) -> bool:
    """Whether the runtime refuses the inputs of a probe."""
    from exportdiff.judging.checks.outputs import PathRaised

    evidence = compared.evidence
    refused = isinstance(evidence, PathRaised) and "method->set_inputs()" in evidence.failure.message
    return refused and compared.in_unpromised_probe


@dynamo.from_model
def torch(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], shapes: Any) -> Callable[..., object]:
    """DynamoExporter: an exported program, called as transformers calls it."""
    from transformers.exporters.exporter_dynamo import DynamoConfig, DynamoExporter

    return _exported(DynamoExporter(), DynamoConfig, model, (args, kwargs), shapes)


@onnx.from_model
def onnxruntime(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], shapes: Any
) -> Callable[..., object]:
    """OnnxExporter: an ONNX model, run by ONNX Runtime."""
    from transformers.exporters.exporter_onnx import OnnxConfig, OnnxExporter

    return _exported(OnnxExporter(), OnnxConfig, model, (args, kwargs), shapes)


@executorch.from_model
def xnnpack(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], shapes: Any) -> Callable[..., object]:
    """ExecutorchExporter: a program for XNNPACK, run by the runtime of the wheel."""
    from transformers.exporters.exporter_executorch import ExecutorchConfig, ExecutorchExporter

    return _exported(ExecutorchExporter(), ExecutorchConfig, model, (args, kwargs), shapes)


def _exported(
    exporter: Any, config: Any, model: Any, example: tuple[tuple[Any, ...], dict[str, Any]], shapes: Any
) -> Callable[..., object]:
    """Export a model, and return what calls the exported one by name, as the exporters demand."""
    import inspect

    forward = inspect.signature(model.forward)
    named = _named(forward, *example)
    exported = exporter.export(model, named, config(dynamic=shapes is not None, dynamic_shapes=shapes))

    def run(*args: Any, **kwargs: Any) -> object:
        return exported(**_named(forward, args, kwargs))

    return run


def _named(forward: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments of a call by name; those of ``**kwargs`` are named already."""
    return {**forward.bind_partial(*args).arguments, **kwargs}
