"""Tags of ``with`` blocks and control-flow operators."""

from __future__ import annotations

from exportdiff_strategies import program as ir
from exportdiff_strategies.control import CONTROLS
from exportdiff_strategies.tags.analysis import Analysis
from exportdiff_strategies.tags.tag import Tag, has_node, has_operator, has_region, marked


def _operator_calls_module(p: Analysis, shared: bool) -> bool:
    """Whether a control-flow operator calls a module; with ``shared``, the same one in both functions."""
    for control in (n for n in p.nodes if isinstance(n, ir.Control)):
        callees = [
            {call.callee for call in ir.of_type(function, ir.CallModule)} for function in control.functions
        ]
        if shared and len(callees) > 1 and callees[0] & callees[1]:
            return True
        if not shared and any(callees):
            return True
    return False


TABLE: dict[str, Tag] = {
    "region.no_grad": Tag("torch.no_grad", has_region("no_grad")),
    "region.whole": Tag(
        "a with block around everything that the model does",
        lambda p: len(p.root.body) == 1 and isinstance(p.root.body[0], ir.With),
    ),
    "region.decorator": Tag("a with block as a decorator of forward", has_node(ir.With, decorator=True)),
    "region.written": Tag("state or operands written in a control-flow operator", marked("region.written")),
    "region.enable_grad": Tag("torch.enable_grad", has_region("enable_grad")),
    "region.inference_mode": Tag("torch.inference_mode", has_region("inference_mode")),
    "region.autocast": Tag("torch.autocast", has_region("autocast")),
    "region.annotate": Tag("torch.fx.traceback.annotate", has_region("annotate")),
    "region.checkpoint": Tag("torch.utils.checkpoint", has_node(ir.CallModule, form="checkpoint")),
    **{f"region.{name}": Tag(f"the operator {name}", has_operator(name)) for name in CONTROLS},
    "region.submodule": Tag(
        "a submodule called in a control-flow operator", lambda p: _operator_calls_module(p, False)
    ),
    "region.shared_submodule": Tag(
        "a submodule called in both branches of a cond", lambda p: _operator_calls_module(p, True)
    ),
    "region.control": Tag(
        "a control-flow operator in a with block",
        has_node(ir.With, lambda w: ir.of_type(w.body, ir.Control)),
    ),
    "region.checkpoint_within": Tag(
        "torch.utils.checkpoint in a control-flow operator",
        has_node(
            ir.Control,
            lambda c: any(call.form == "checkpoint" for call in ir.of_type(c.functions, ir.CallModule)),
        ),
    ),
    "region.state": Tag(
        "state read in a control-flow operator",
        lambda p: any(
            ir.of_type(function, ir.Attr)
            for n in p.nodes
            if isinstance(n, ir.Control)
            for function in n.functions
        ),
    ),
}
