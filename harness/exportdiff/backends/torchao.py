"""torchao: PT2E quantization of an exported program, which is run by PyTorch's eager kernels.

Functions import what imports torch: naming the backend must not take seconds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from exportdiff.judging.exemptions.backend import Backend

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

    from exportdiff.judging.exemptions.limits.limit import Comparison

_GUIDE = "docs.pytorch.org/ao, PT2E Quantization"

backend = Backend(
    "torchao",
    install="pip install 'exportdiff[torchao]'",
    requires=("torchao",),
    packages=("torchao",),
    promises=(
        "state between calls",
        "in-place writes",
        "aliasing",
        "dynamic sizes",
        "keyword order",
        "random numbers",
    ),
    cost=300,
    # A batch norm becomes part of the convolution, or of the linear layer, before it.
    tolerance={"float32": (1e-5, 1e-6), "float64": (1e-5, 1e-6), "float16": (4e-3, 1e-5)},
)

backend.refuses(
    "training",
    "NotImplementedError",
    f"{_GUIDE}: 'float_model = M().eval()'; torchao/quantization/pt2e/quantize_pt2e.py, prepare_pt2e: "
    "post training quantization",
    pattern="takes a model in eval mode",
)


@backend.limit(
    says="A quantized model computes with integers of 8 bits. So its values are only near those of eager, if "
    "its inputs are in the range of the calibration.",
    documented=f"{_GUIDE}: quantize and dequantize operators around the operators; "
    "torchao/quantization/pt2e/quantizer/x86_inductor_quantizer.py: quant_min=0, quant_max=255",
)
def eight_bits_are_not_exact(compared: Comparison) -> bool:
    """Whether values of a quantized model differ, by at most ten times the largest value of eager."""
    from exportdiff.judging.checks.compare.leaves import NumbersDiffer, ValuesDiffer

    leaf = getattr(compared.evidence, "leaf", None)
    if compared.path.runner != "quantized" or not isinstance(leaf, ValuesDiffer | NumbersDiffer):
        return False
    return math.isfinite(leaf.apart) and leaf.apart <= 10 * max(leaf.largest, 1)


@backend.runner
def observed(ep: Any) -> Callable[..., object]:
    """Prepare for quantization: observers record the range of values, and change none."""
    return _calibrated(ep, everything=True)


@backend.runner
def unquantized(ep: Any) -> Callable[..., object]:
    """Prepare and convert, with a quantizer that quantizes nothing: the model stays as it is."""
    return _converted(ep, everything=False)


@backend.runner
def quantized(ep: Any) -> Callable[..., object]:
    """Prepare, calibrate with the example inputs, and convert: all but the values is as in eager."""
    return _converted(ep, everything=True)


def _prepared(ep: Any, *, everything: bool) -> nn.Module:
    """Insert observers around all operators that the quantizer knows, or none."""
    from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e
    from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
        X86InductorQuantizer,
        get_default_x86_inductor_quantization_config,
    )

    _refuse_training(ep)
    quantizer = X86InductorQuantizer()
    if everything:
        quantizer.set_global(get_default_x86_inductor_quantization_config())
    prepared: nn.Module = prepare_pt2e(ep.module(), quantizer)
    return prepared


def _refuse_training(ep: Any) -> None:
    """Raise NotImplementedError for dropout and batch norm that train."""
    for node in ep.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        names = [each.name for each in schema.arguments] if schema else []
        given = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
        if given.get("train") or given.get("training"):
            raise NotImplementedError(f"post training quantization takes a model in eval mode: {node}")


def _calibrated(ep: Any, *, everything: bool) -> nn.Module:
    """Prepare, call the model with the example inputs, and undo what this call has changed."""
    import torch

    prepared = _prepared(ep, everything=everything)
    named = [*prepared.named_parameters(), *prepared.named_buffers()]
    state = [t for name, t in named if not name.startswith("activation_post_process")]
    before = [t.detach().clone() for t in state]
    args, kwargs = torch.utils._pytree.tree_map(
        lambda leaf: leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf, ep.example_inputs
    )
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        prepared(*args, **kwargs)
        for t, value in zip(state, before, strict=True):
            t.copy_(value)
    return prepared


def _converted(ep: Any, *, everything: bool) -> nn.Module:
    """Prepare, calibrate and convert."""
    import torch
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e

    prepared = _calibrated(ep, everything=everything)
    # It draws random numbers (corpora/backends/torchao/convert_draws_random_numbers.py).
    with torch.random.fork_rng(devices=[]):
        converted: nn.Module = convert_pt2e(prepared)
    return converted
