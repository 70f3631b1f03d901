"""Does exportdiff name the right place? One operator of a program is replaced, or a bug is planted.

The programs, the paths and the seeds are fixed here. A finding without a place counts as a miss.
"""

from __future__ import annotations

import pathlib
import time
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from exportdiff.core.case import case_from_source
from exportdiff.core.first_difference import not_found
from exportdiff.core.programs import program_source
from exportdiff.judging.judge_case import judge_case
from exportdiff.judging.places.find import first_difference
from exportdiff.known.corpus.entry import OPEN, read_entry
from exportdiff.known.corpus.first_difference import marked_lines
from exportdiff.lab.bench.figures import Figure, Result, Rows
from exportdiff.lab.faults import FAULTS
from exportdiff.lab.faults.replacing import operator_of_a_call_replaced, operator_replaced
from exportdiff.runtime.inputs.copies import build
from exportdiff.runtime.observing.code_places import ModuleCalls
from exportdiff.runtime.paths import parse, select_paths
from exportdiff.runtime.processes.child import Death, TaskFailure
from exportdiff.runtime.processes.in_child import ReusableWorker, call_fresh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from exportdiff.core.case import Case
    from exportdiff.core.finding import Finding
    from exportdiff.core.first_difference import FirstDifference
    from exportdiff.lab.bench.context import Context

T = TypeVar("T")

SEED = 45
PATHS = (
    "nonstrict:module",
    "nonstrict:unflatten",
    "strict:module",
    "nonstrict+decompose:module",
    "nonstrict+preserve:unflatten",
)
"""Program number n is judged on path number n, modulo their number."""
BATCH = 20
"""Faults or entries judged in one process."""
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
of which any is right, where the bug exchanges two values). This table was written while the search was being
written. So it shows that the search has not become worse, and is no independent measure of it."""


@dataclass(frozen=True)
class Named:
    """One finding with a known place, and the place that was found."""

    subject: str
    path: str
    module: str
    operators: tuple[str, ...]
    found: FirstDifference | None

    @property
    def right_module(self) -> bool:
        """Whether the module was found."""
        return self.found is not None and self.found.module == self.module

    @property
    def right_operator(self) -> bool:
        """Whether the module and the operator were found."""
        return self.right_module and self.found is not None and self.found.operator in self.operators

    @property
    def row(self) -> tuple[str, str, str, str]:
        """The row of a table of misses."""
        return self.subject, self.path, f"{self.module!r} {' or '.join(self.operators)}", _text(self.found)


@dataclass(frozen=True)
class Marked:
    """A corpus entry with a marked line, and the place that was found."""

    entry: str
    path: str
    line: int
    found: FirstDifference | None
    judging: float
    """Seconds to judge the path."""
    searching: float
    """Seconds to find the place."""

    @property
    def right(self) -> bool:
        """Whether the line was found."""
        return self.found is not None and self.found.line == self.line

    @property
    def row(self) -> tuple[str, str, str, str]:
        """The row of a table of misses."""
        return self.entry, self.path, f"line {self.line}", _text(self.found)


def _text(found: FirstDifference | None) -> str:
    if found is None:
        return "no finding"
    return found.why_not or f"{found.module!r} {found.operator} line {found.line}"


def measure(context: Context) -> Result:
    """Measure planted bugs, replaced operators and the marked lines of the corpus."""
    programs = context.scale.placed_programs
    faults = list(VALUE_FAULTS)[:: max(1, len(VALUE_FAULTS) // context.scale.faults)]
    planted = [each for part in _batches(faults) for each in _asked(of_faults, part)]
    replaced = _of_programs(programs)
    files = _marked_files(context.corpora)[:: 1 if programs >= BATCH else 10]
    marked: list[Marked] = [each for part in _batches(files) for each in _asked(of_entries, part)]
    misses = [each.row for each in (*planted, *replaced) if not each.right_operator]
    misses += [each.row for each in marked if not each.right]
    return Result(
        (
            *_figures("planted bugs", planted),
            *_figures("replaced operators", replaced),
            *_figures_of_entries(marked),
        ),
        (Rows("places that were not found", ("subject", "path", "wanted", "found"), tuple(misses)),),
    )


def _figures(name: str, named: list[Named]) -> Iterator[Figure]:
    note = f"of {len(named)}"
    module = _share([each.right_module for each in named])
    operator = _share([each.right_operator for each in named])
    yield Figure(f"{name}: right module", module, "%", ">= 95", note=note)
    yield Figure(f"{name}: right operator", operator, "%", ">= 90", note=note)


def _figures_of_entries(marked: list[Marked]) -> Iterator[Figure]:
    right = _share([each.right for each in marked])
    yield Figure("corpus entries: right line", right, "%", ">= 90", note=f"of {len(marked)}")
    judging = sum(each.judging for each in marked)
    times = sum(each.searching for each in marked) / judging if judging else None
    yield Figure("searching, over judging the path again", times, "x", "<= 2")


def _share(right: list[bool]) -> float | None:
    return 100 * sum(right) / len(right) if right else None


def _batches(names: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), BATCH):
        yield names[start : start + BATCH]


def _asked(task: Callable[..., list[T]], *args: object) -> list[T]:
    answer = call_fresh(SECONDS, task, *args)
    if isinstance(answer, Death):
        raise RuntimeError(answer.reason)
    if isinstance(answer, TaskFailure):
        raise answer.error
    return answer


def _marked_files(corpora: pathlib.Path | None) -> list[str]:
    files = sorted((corpora / OPEN).glob("*.py")) if corpora is not None else []
    return [str(file) for file in files if marked_lines(file.read_text(encoding="utf-8"))]


def of_entries(files: list[str]) -> list[Marked]:
    """Find the place of what each entry shows, on its path."""
    return [_of_entry(pathlib.Path(file)) for file in files]


def _of_entry(file: pathlib.Path) -> Marked:
    entry, source = read_entry(file), file.read_text(encoding="utf-8")
    case, path = case_from_source(source, finite_only=False), parse(entry.path)
    begun = time.process_time()
    findings = judge_case(case, [path]).findings
    judged = time.process_time()
    chosen = [each for each in findings if each.check == entry.check] or list(findings)
    place = first_difference(case, chosen[0]) if chosen else None
    ended = time.process_time()
    return Marked(entry.name, str(path), marked_lines(source)[0], place, judged - begun, ended - judged)


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
            place = first_difference(case, chosen[0]) if chosen else None
        found.append(Named(name, str(path), module, operators, place))
    return found


def _of_programs(programs: int) -> list[Named]:
    """Replace an operator in ``programs`` programs; only those that show it with a wrong value count."""
    found: list[Named] = []
    with ReusableWorker() as worker:
        for index in count():
            if len(found) == programs:
                break
            answer = worker.ask(SECONDS, of_program, index)
            if isinstance(answer, Death | TaskFailure):
                worker.stop()  # torch itself fails, and may leave its process unusable
            elif answer is not None:
                found.append(answer)
    return found


def of_program(index: int) -> Named | None:
    """Replace an operator in a drawn program; None if no value is wrong then."""
    return _replaced(case_from_source(program_source(SEED, index)[0]), index)


def _replaced(case: Case, index: int) -> Named | None:
    path = parse(PATHS[index % len(PATHS)])
    plant = operator_of_a_call_replaced if path.runner == "unflatten" else operator_replaced
    with plant(f"{SEED}:{index}") as done:
        verdict = judge_case(case, [path])
        chosen = [each for each in verdict.findings if _is_of_a_value(each)]
        if not chosen or not done.operator:
            return None
        place = _place(case, chosen[0])
    # A bug of torch may hide the one that is planted.
    if judge_case(case, [path]).findings:
        return None
    first = ModuleCalls(build(case, path.device)[0]).first
    return Named(f"program {index}", str(path), first.get(done.module, done.module), (done.operator,), place)


def _place(case: Case, finding: Finding) -> FirstDifference:
    """Return the first difference. A search that raises has found none, which is a miss."""
    try:
        return first_difference(case, finding)
    except Exception as error:
        return not_found(f"the search raised {type(error).__name__}")


def _is_of_a_value(finding: Finding) -> bool:
    return finding.kind == "mismatch" and finding.evidence.aspect == "value"
