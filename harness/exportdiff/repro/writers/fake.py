"""How to show findings of the fake check."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from exportdiff.judging.checks.fake import WrongFake
from exportdiff.repro.parts import ScriptParts
from exportdiff.repro.paste import Template
from exportdiff.repro.templates.properties import PROPERTIES
from exportdiff.repro.templates.stand_ins import (
    FACT,
    FOR_INFERENCE,
    OF_SIZES,
    export,
    inputs,
    lower,
    make,
    when,
)
from exportdiff.runtime.paths.catalog import for_inference

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.repro.paste import Values


class Compare(torch.fx.Interpreter):
    """Runs a graph, and compares the WORD of each node with that of its fake tensor."""

    wrong: ClassVar[list[str]] = []

    def run_node(self, node: Any) -> Any:
        """Run a node and compare."""
        result = super().run_node(node)
        fake = node.meta.get("val") if node.op == "call_function" else None
        if isinstance(fake, torch.Tensor) and isinstance(result, torch.Tensor):
            predicted, seen = self.fact(fake), self.fact(result)
            # A symbol stands for any size.
            if [
                b if isinstance(a, torch.SymInt) else a for a, b in zip(predicted, seen, strict=False)
            ] != seen:
                self.wrong.append(f"WORD of {node.name} is {seen}, predicted was {predicted}")
        return result

    def fact(self, t: Any) -> Any:
        """Return the WORD of a tensor."""
        return FACT(t) if OF_SIZES else [FACT(t)]


def run_graph() -> None:
    """Run the graph, and say which node differs from its fake tensor."""
    model, args, kwargs = make()
    ep = export(model)
    candidate = lower(ep)
    args, kwargs = inputs()
    compare = Compare(candidate)
    with when(FOR_INFERENCE, torch.no_grad()):
        compare.run(*torch.utils._pytree.tree_leaves((args, kwargs)), enable_io_processing=False)
    wrong = compare.wrong
    print(f"BUG: {wrong[0]}" if wrong else "ok: every node is what its fake tensor predicted")
    sys.exit(bool(wrong))


def write(finding: Finding) -> ScriptParts | None:
    """Write down nodes that have other metadata than their fake tensors."""
    if not isinstance(finding.evidence, WrongFake):
        return None
    word = finding.evidence.leaf.word
    values: Values = {"WORD": word, "FACT": PROPERTIES[word], "OF_SIZES": word in ("shape", "stride")}
    script = Template(run_graph, {"FOR_INFERENCE": for_inference(finding.path)})
    return ScriptParts([Template(Compare, values)], [script])
