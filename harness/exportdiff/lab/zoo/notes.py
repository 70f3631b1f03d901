"""Findings that no fix of the corpus explains: a table of explanations.

What torch does wrong belongs in ``corpora/``; a note with the name of an entry says that a model shows its
bug, which no fix mends there. The other notes say what a model does that export cannot keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from exportdiff.core.finding import starts_with

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding


@dataclass(frozen=True)
class Note:
    """One explanation."""

    name: str
    """As the table names it."""
    text: str
    """For people: which code does what, and where."""
    models: tuple[str, ...]
    """Shell patterns of their names."""
    signature: tuple[str, ...]
    """How the signature of the finding begins."""
    paths: str = "*"
    """A shell pattern."""


NOTES: tuple[Note, ...] = (
    Note(
        "decompose_ends_the_process_for_sparse_input",
        "A compressed sparse input requires grad: "
        "corpora/open/decompose_ends_the_process_for_sparse_input.py",
        models=("operators/sparse.sampled_addmm", "operators/sparse.mm.reduce"),
        signature=("alive", "abort", "SIGABRT"),
        paths="*+decompose:*",
    ),
    Note(
        "save_fails_on_results_of_topk",
        "Another named tuple of torch, torch.return_types._lu_with_info, without a name for saving: "
        "corpora/open/save_fails_on_results_of_topk.py",
        models=("operators/lu",),
        signature=("outputs", "crash", "lower", "NotImplementedError"),
        paths="*+reload:*",
    ),
    Note(
        "filled_tensors_have_no_gradient",
        "Eager returns a gradient of zeros for a tensor that was filled with a number. A functional program "
        "has a new tensor, torch.full_like, which depends on nothing: there is no gradient, which means the "
        "same",
        models=("operators/fill", "operators/zero_"),
        signature=("gradients", "mismatch", "none", "input", "lost"),
        paths="*+decompose:*",
    ),
    Note(
        "export_drops_hook_on_tensor",
        "The operator calls Tensor.register_hook: corpora/open/export_drops_hook_on_tensor.py",
        models=("operators/hop.register_hook.simple",),
        signature=("gradients", "mismatch", "value", "input"),
    ),
    Note(
        "invoke_quant_is_for_inductor",
        "torch._higher_order_ops.invoke_quant marks a part of a graph for Inductor; the verifier of exported "
        "programs does not know it (torch/_higher_order_ops/_invoke_quant.py)",
        models=("operators/hop.invoke_quant.simple",),
        signature=("outputs", "crash", "export", "SpecViolationError"),
    ),
    Note(
        "strict_reads_size_before_squeeze",
        "The function transposes a tensor in place, and then iterates over it: "
        "corpora/open/strict_reads_size_before_squeeze.py. With its fix, Dynamo refuses torch.allclose",
        models=("docs/nn.utils.rnn.unpad_sequence",),
        signature=("outputs", "crash", "export", "IndexError"),
        paths="strict:*",
    ),
    Note(
        "unflatten_ignores_eval",
        "In train mode, the layer updates its estimate: a branch on self.training. No operator of the graph "
        "shows the mode, so the fix does not refuse eval(): corpora/open/unflatten_ignores_eval.py",
        models=("docs/nn.utils.parametrizations.spectral_norm",),
        signature=("guards", "mismatch", "accepted", "eval"),
        paths="*:unflatten",
    ),
    Note(
        "strict_moves_no_grad_region_to_root",
        "The layer updates its estimate under torch.no_grad: "
        "corpora/open/strict_moves_no_grad_region_to_root.py. With its fix, the path still ignores eval()",
        models=("docs/nn.utils.parametrizations.spectral_norm",),
        signature=("outputs", "crash", "run", "RuntimeError"),
        paths="strict:unflatten",
    ),
    Note(
        "export_fails_on_number_in_func_grad",
        "The function that is differentiated multiplies by a number: "
        "corpora/open/export_fails_on_number_in_func_grad.py",
        models=("docs/func.grad.2", "docs/func.vjp.4"),
        signature=(
            "outputs",
            "crash",
            "export",
            "RuntimeError",
            "Cannot access data pointer of Tensor that doesn",
        ),
    ),
    Note(
        "export_fails_on_jacfwd",
        "The function that is mapped is differentiated inside vmap: corpora/open/export_fails_on_jacfwd.py. "
        "With its fix, the example shows corpora/open/export_fails_on_number_in_func_grad.py",
        models=("docs/func.grad.4",),
        signature=("outputs", "crash", "export", "AttributeError"),
    ),
    Note(
        "export_fails_on_functionalize",
        "With the fix, the results differ because the example also calls make_fx on a function that writes "
        "to its input. Export traces with make_fx, too, and does not record what another trace does: "
        "corpora/open/export_fails_on_functionalize.py",
        models=("docs/func.functionalize.3",),
        signature=("outputs", "crash", "export", "AssertionError"),
    ),
    Note(
        "export_leaves_fake_tensors_in_a_cache",
        "The function that linearize returns folds constants in its first call, and keeps them. If export "
        "makes that call, it keeps fake tensors: corpora/open/export_leaves_fake_tensors_in_a_cache.py",
        models=("docs/func.linearize",),
        signature=("purity", "mismatch", "export", "fake tensor in an object"),
        paths="nonstrict*",
    ),
    Note(
        "onnx_program_assigns_keywords_in_order_of_call",
        "The steps are called with keywords, as language models are: "
        "corpora/backends/onnx/onnx_program_assigns_keywords_in_order_of_call.py",
        models=("passing/*",),
        signature=("guards", "crash", "refused", "keyword-order"),
        paths="onnx:*",
    ),
)


def notes_on(model: str, path: str, signature: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the notes that explain a finding."""
    return tuple(
        note.name
        for note in NOTES
        if any(fnmatchcase(model, glob) for glob in note.models)
        and fnmatchcase(path, note.paths)
        and starts_with(signature, note.signature)
    )


def explain(model: str, finding: Finding) -> bool:
    """Whether notes explain a finding on all of its paths. It is not looked for in the corpus then."""
    return all(notes_on(model, path.without_device, finding.signature) for path in finding.shown_on)
