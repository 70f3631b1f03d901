"""Does exportdiff name the right place? One operator of a program is replaced, or a bug is planted.

The programs, the paths and the seeds are fixed here. A finding without a place counts as a miss.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from exportdiff.core.case import case_from_source
from exportdiff.core.programs import program_source
from exportdiff.judging.judge_case import judge_case
from exportdiff.judging.places.find import first_difference
from exportdiff.lab.bench.figures import Figure, Result, Rows
from exportdiff.lab.faults import FAULTS
from exportdiff.lab.faults.replacing import operator_of_a_call_replaced, operator_replaced
from exportdiff.runtime.paths import parse, select_paths
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import call_fresh

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.first_difference import FirstDifference
    from exportdiff.lab.bench.context import Context
    from exportdiff.lab.faults.replacing import Replacement

SEED = 44
PATHS = (
    "nonstrict:module",
    "nonstrict:unflatten",
    "strict:module",
    "nonstrict+decompose:module",
    "nonstrict+preserve:unflatten",
)
"""Program number n is judged on path number n, modulo their number."""
BATCH = 20
"""Programs judged in one process."""
SECONDS = 240.0
"""The limit of a batch."""

VALUE_FAULTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "in_place_operators_are_removed_as_dead_code": ("", ("aten.mul_",)),
    "assigned_buffers_keep_their_old_value": ("", ("aten.add",)),
    "assigned_values_go_to_the_wrong_buffer": ("", ("aten.add", "aten.mul")),
    "keyword_arguments_are_taken_in_alphabetical_order": ("", ("aten.mul", "aten.rsub", "aten.sub")),
    "constants_are_not_copied": ("", ("aten.lift_fresh",)),
    "constants_are_mutated_while_tracing": ("", ("aten.lift_fresh",)),
    "the_branches_of_cond_are_swapped": ("", ("aten.add", "aten.sub")),
    "detach_is_ignored": ("", ("aten.detach", "aten.mul")),
    "no_grad_regions_are_inlined": ("", ("aten.mul",)),
    "every_call_runs_the_first_calls_graph": ("child", ("aten.add",)),
    "calls_with_different_numbers_share_a_graph": ("child", ("aten.add",)),
    "calls_with_different_keyword_values_share_a_graph": ("child", ("aten.add",)),
    "calls_with_different_buffers_share_a_graph": ("child", ("aten.mul",)),
    "consecutive_calls_are_merged": ("outer", ("aten.mul",)),
    "unflatten_swaps_outputs": ("", ("aten.add", "aten.mul")),
    "unflatten_loses_input_updates": ("", ("aten.mul_",)),
    "module_loses_buffer_updates": ("", ("aten.add_",)),
    "module_loses_input_updates": ("", ("aten.mul_",)),
    "module_mixes_up_keywords": ("", ("aten.div",)),
    "the_decomposition_of_relu_is_inverted": ("", ("aten.relu",)),
    "relu_is_lost_where_nothing_is_decomposed": ("", ("aten.relu",)),
    "deferred_checks_of_sizes_are_left_out": ("", ("aten.sub", "aten.add")),
    "floats_are_saved_as_integers": ("", ("aten.mul",)),
    "a_preserved_signature_repeats_the_first_argument": ("child", ("aten.sub",)),
    "a_preserved_signature_forgets_constants": ("leaf", ("aten.mul",)),
    "dynamic_sizes_become_constants": ("", ("aten.mul",)),
    "export_traces_the_model_in_eval_mode": ("norm", ("aten.native_batch_norm",)),
    "an_adapter_gets_its_inputs_reversed": ("one", ("aten.addmm",)),
    "printing_a_module_counts_as_a_call": ("leaf", ("aten.mul", "aten.add")),
    "generated_code_gets_reversed_arguments": ("child", ("aten.sub",)),
    "an_unflattened_submodule_keeps_its_own_parameters": ("linear", ("aten.addmm", "aten.t")),
    "a_child_depends_on_its_parent": ("child", ("aten.sub",)),
    "exporting_again_makes_dynamic_sizes_constants": ("", ("aten.mul",)),
    "draft_export_records_another_operator": ("", ("aten.relu", "aten.neg")),
    "the_code_of_a_program_is_older_than_its_graph": ("", ("aten.relu", "aten.neg")),
    "a_swapped_module_gets_reversed_arguments": ("child", ("aten.sub",)),
    "a_dispatcher_loses_count": ("leaf", ("aten.mul", "aten.add")),
    "unflatten_detaches_parameters": ("", ("aten.mul", "aten.add")),
    "the_graph_computes_with_the_examples_size": ("", ("aten.mul",)),
    "a_branch_on_a_size_makes_no_guard": ("", ("aten.add", "aten.sub")),
    "dynamo_keeps_old_metadata_after_mutation": ("", ("aten.add",)),
    "dynamo_skips_hooks": ("child", ("aten.mul",)),
    "dynamo_returns_outputs_in_reverse": ("", ("aten.add", "aten.mul")),
    "buffers_with_the_same_name_are_confused": ("child", ("aten.add",)),
}
"""The planted bugs that make a value wrong: the module of the first wrong value, and its operator (or those
of which any is right, where the bug exchanges two values)."""


@dataclass(frozen=True)
class Named:
    """One finding with a known place, and the place that was found."""

    subject: str
    path: str
    module: str
    operators: tuple[str, ...]
    finding: str
    found: FirstDifference | None

    @property
    def right_module(self) -> bool:
        """Whether the module was found."""
        return self.found is not None and self.found.module == self.module

    @property
    def right_operator(self) -> bool:
        """Whether the module and the operator were found."""
        return self.right_module and self.found is not None and self.found.operator in self.operators


def measure(context: Context) -> Result:
    """Measure planted bugs and replaced operators."""
    programs = context.scale.placed_programs
    faults = list(VALUE_FAULTS)[:: max(1, len(VALUE_FAULTS) // context.scale.faults)]
    planted = [each for part in _batches(faults) for each in _asked(of_faults, part)]
    replaced = [
        each
        for start in range(0, programs, BATCH)
        for each in _asked(of_programs, start, min(BATCH, programs - start))
    ]
    both = planted + replaced
    misses = [each for each in both if not each.right_operator]
    return Result(
        (
            *_figures("planted bugs", planted),
            *_figures("replaced operators", replaced),
        ),
        (Rows("places that were not found", ("subject", "path", "wanted", "found"), tuple(map(_row, misses))),),
    )


def _figures(name: str, named: list[Named]) -> Iterator[Figure]:
    def share(right: int) -> float | None:
        return 100 * right / len(named) if named else None

    note = f"of {len(named)}"
    yield Figure(f"{name}: right module", share(sum(n.right_module for n in named)), "%", ">= 95", note=note)
    yield Figure(f"{name}: right operator", share(sum(n.right_operator for n in named)), "%", ">= 90", note=note)


def _row(named: Named) -> tuple[str, str, str, str]:
    found = named.found
    text = "nothing" if found is None else found.why_not or f"{found.module!r} {found.operator}"
    return named.subject, named.path, f"{named.module!r} {' or '.join(named.operators)}", text


def _batches(names: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), BATCH):
        yield names[start : start + BATCH]


def _asked(task: object, *args: object) -> list[Named]:
    answer = call_fresh(SECONDS, task, *args)  # type: ignore[arg-type,var-annotated]
    if isinstance(answer, Death):
        raise RuntimeError(answer.reason)
    if isinstance(answer, TaskFailure):
        raise answer.error
    return answer


def of_faults(names: list[str]) -> list[Named]:
    """Plant each bug, and find the place of what its model shows."""
    found = []
    for name in names:
        fault, (module, operators) = FAULTS[name], VALUE_FAULTS[name]
        path = select_paths([fault.paths])[0]
        case = case_from_source(fault.source)
        with fault.plant():
            verdict = judge_case(case, [path])
            chosen = [each for each in verdict.findings if each.check == fault.check]
            place, title = _place(case, chosen)
        found.append(Named(name, str(path), module, operators, title, place))
    return found


def of_programs(start: int, programs: int) -> list[Named]:
    """Replace an operator in ``programs`` programs; only those that show it with a wrong value count."""
    found: list[Named] = []
    for index in count(start * 10):
        if len(found) == programs:
            return found
        case = case_from_source(program_source(SEED, index)[0])
        if (named := _replaced(case, index)) is not None:
            found.append(named)
    return found


def _replaced(case: Case, index: int) -> Named | None:
    path = parse(PATHS[index % len(PATHS)])
    plant = operator_of_a_call_replaced if path.runner == "unflatten" else operator_replaced
    with plant(f"{SEED}:{index}") as done:
        verdict = judge_case(case, [path])
        chosen = [each for each in verdict.findings if _is_of_a_value(each)]
        if not chosen or not done.operator:
            return None
        place, title = _place(case, chosen)
    if judge_case(case, [path]).findings:  # a bug of torch may hide the one that is planted
        return None
    return _named(f"program {index}", str(path), done, title, place)


def _named(subject: str, path: str, done: Replacement, title: str, place: FirstDifference | None) -> Named:
    return Named(subject, path, done.module, (done.operator, done.instead), title, place)


def _is_of_a_value(finding: Finding) -> bool:
    return finding.kind == "mismatch" and finding.evidence.aspect == "value"


def _place(case: Case, findings: list[Finding]) -> tuple[FirstDifference | None, str]:
    if not findings:
        return None, ""
    return first_difference(case, findings[0]), findings[0].title
