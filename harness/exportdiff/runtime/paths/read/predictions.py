"""The fake tensors that an exported graph records for its nodes, and the real results of the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.export._tree_utils import reorder_kwargs
from torch.fx import Interpreter
from torch.utils import _pytree as pytree

from exportdiff.runtime.observing.observation import Prediction
from exportdiff.runtime.observing.process_state import restore_modes
from exportdiff.runtime.observing.tensors import snapshot

if TYPE_CHECKING:
    from torch import nn
    from torch.export import ExportedProgram
    from torch.fx import Node

    from exportdiff.runtime.observing.arguments import Inputs
    from exportdiff.runtime.paths.stopwatch import Stopwatch


class _Recorder(Interpreter):
    """Runs a graph node by node, and pairs each tensor with the fake one in ``meta["val"]``."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.found: list[Prediction] = []

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        if n.op == "call_function":
            self._pair(n, n.meta.get("val"), result)
        return result

    def _pair(self, node: Node, predicted: Any, result: Any) -> None:
        if isinstance(result, torch.Tensor):
            pairs = [(predicted, result)]
        elif isinstance(result, tuple | list):
            pairs = list(zip(predicted, result, strict=False)) if isinstance(predicted, tuple | list) else []
        else:
            return
        for fake, real in pairs:
            if isinstance(fake, torch.Tensor) and isinstance(real, torch.Tensor):
                expected, actual = snapshot(fake, values=False), snapshot(real, values=False)
                self.found.append(Prediction(node.name, str(node.target), expected, actual))


def predictions(
    lowered: nn.Module, program: ExportedProgram, inputs: Inputs, clock: Stopwatch, *, grad: bool
) -> tuple[Prediction, ...]:
    """Run the graph of ``program.module()`` once more, until the end or an exception.

    A program for inference is traced under no_grad (torch/_functorch/aot_autograd.py, aot_export_module), so
    its fake tensors predict a call under no_grad: a while_loop that keeps all steps for backward gives
    the last of them, which lies elsewhere in its memory than the result of a loop that keeps none.
    """
    spec = program.call_spec.in_spec
    if not isinstance(lowered, torch.fx.GraphModule) or spec is None:
        return ()
    recorder = _Recorder(lowered)
    with restore_modes(), clock, torch.set_grad_enabled(grad):
        try:
            flat = pytree.tree_leaves((inputs.args, reorder_kwargs(inputs.kwargs, spec)))
            recorder.run(*flat, enable_io_processing=False)
        except Exception:
            # The earlier calls have reported the exception: here there is only less to compare.
            return tuple(recorder.found)
    return tuple(recorder.found)
