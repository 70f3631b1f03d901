"""A finding and its program -> a self-contained file that shows exactly this difference.

The file imports torch and nothing of this project. It is put together from short pieces, one per
thing that can differ, so that it holds what this finding needs and nothing else.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from importlib.metadata import version
from string import Template
from typing import TYPE_CHECKING, Literal

from harness.case import FURTHER
from harness.inputs.copies import CALLS
from harness.paths.runners import RUNNERS
from harness.repro import compiled, looks, parts, transforms
from harness.repro.writers import written

if TYPE_CHECKING:
    from harness.findings import Finding

HANG_SECONDS = 30
"""After so long, the file itself calls it a hang."""

MODULES = ("contextlib", "copy", "inspect", "io", "itertools", "re", "subprocess", "sys", "warnings")
"""What else than torch a file may import."""


class NoReproError(ValueError):
    """There is no way yet to write this finding down as a file."""


@dataclass(frozen=True)
class Needs:
    """The fixes that have to be in place, so that a file shows its bug."""

    fixes: tuple[str, ...]
    """Their names in the corpus."""
    key: Literal["unmasked-by", "caused-by"]
    """``unmasked-by``: without them a known bug hides this one. ``caused-by``: without them all is well."""


@dataclass(frozen=True)
class _Program:
    """What the rest of the file must know of the source."""

    source: str
    has_kwargs: bool
    dynamic: bool
    random_build: bool
    random_forward: bool


def repro_source(finding: Finding, source: str, needs: Needs | None = None) -> str:
    """Return the text of the repro file; ``needs``: the fixes that show the finding, where torch does not.

    Raises NoReproError for an unknown check or mode.
    """
    program = _read(program_of(source, probes=_call(finding) >= CALLS))
    body = _body(finding, program)
    return "\n".join((_header(finding, needs), _imports(body), program.source.strip("\n"))) + body


def program_of(source: str, *, probes: bool = True) -> str:
    """Cut a repro file back to its program; any other source is one already.

    What a finding does not need of ``probes`` goes as well.
    """
    header = re.match(r"# /// script\n(#[^\n]*\n)+", source)
    if header is not None:
        source = source[header.end() :]
    functions = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    kept = source.splitlines()
    ends = [functions[name].end_lineno or 0 for name in ("make", *FURTHER) if name in functions]
    if header is not None and ends:
        ours = {f"import {name}" for name in MODULES}
        kept = ["" if line in ours else line for line in kept[: max(ends)]]
    if not probes and "probes" in functions:
        node = functions["probes"]
        kept[node.lineno - 1 : node.end_lineno] = []
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(kept)).strip("\n")


def _read(source: str) -> _Program:
    """Find out what ``make`` returns, and whether random numbers play a part."""
    returned = 2
    dynamic = False
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name == "dynamic_shapes":
            dynamic = True
        if isinstance(node, ast.FunctionDef) and node.name == "make":
            for statement in ast.walk(node):
                if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Tuple):
                    returned = len(statement.value.elts)
    layers = set(re.findall(r"\bnn\.([A-Z]\w*)", source)) - _WITHOUT_NUMBERS
    return _Program(
        source=source,
        has_kwargs=returned == 3,
        dynamic=dynamic,
        random_build=bool(layers) or re.search(r"\brand|\bnormal_|\buniform_", source) is not None,
        random_forward=re.search(r"rand|[Dd]ropout|bernoulli|multinomial|normal_", source) is not None,
    )


_WITHOUT_NUMBERS = {
    "Module",
    "ModuleList",
    "ModuleDict",
    "Sequential",
    "Parameter",
    "ReLU",
    "GELU",
    "SiLU",
    "Tanh",
    "Sigmoid",
    "Identity",
    "Flatten",
    "LayerNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "Softmax",
}
"""What of ``nn`` draws no random numbers when it is made."""


def _header(finding: Finding, needs: Needs | None) -> str:
    torch = version("torch").partition("+")[0]
    fields: dict[str, str | list[str]] = {
        "fingerprint": finding.fingerprint,
        "path": str(finding.path),
        "check": finding.check,
        "kind": finding.kind,
        "stage": finding.stage,
        "signature": list(finding.signature),
        "torch": torch,
        "status": "open",
    }
    if needs is not None:
        fields[needs.key] = list(needs.fixes)
    lines = [
        "# /// script",
        '# requires-python = ">=3.10"',
        f'# dependencies = ["torch=={torch}"]',
        "#",
        "# [tool.exportdiff]",
        # A JSON string or list of strings is the same thing in TOML.
        *(f"# {key} = {json.dumps(value)}" for key, value in fields.items()),
        "# ///",
    ]
    if needs is not None:
        because = {"unmasked-by": "a known bug hides this one", "caused-by": "torch is right"}[needs.key]
        lines.append("# Shows only with these fixes of known bugs in place; without them, " + because + ":")
        lines += [f"# {name}" for name in needs.fixes]
    call = _call(finding)
    if finding.stage == "run" and finding.kind == "mismatch" and call:
        probe = f", which is probe {call - CALLS}" if call >= CALLS else ""
        lines.append(f"# Shows in call {call}, counted from 0{probe}.")
    return "\n".join(lines)


def _imports(body: str) -> str:
    names = [name for name in MODULES if re.search(rf"\b{name}\.", body)]
    lines = [f"import {name}" for name in names]
    return "\n".join((*lines, ""))


def _body(finding: Finding, program: _Program) -> str:
    """Put the part below the program together."""
    seed = "torch.manual_seed(0)" if program.random_build else ""
    device = finding.device if finding.device != "cpu" else ""
    unpack = "args, kwargs" if program.has_kwargs else "args"
    star = "*args, **kwargs" if program.has_kwargs else "*args"
    runner = RUNNERS.get(finding.runner)
    if runner is None or finding.mode not in runner.modes:
        raise NoReproError(f"no way to write down the path {finding.path}")
    runs = finding.mode == "compile"  # the model itself
    sizes = transforms.sizes(finding)
    has_spec = program.dynamic or bool(sizes)
    dynamic = "dynamic_shapes=dynamic_shapes(), " if has_spec else ""
    further = transforms.export_arguments(finding)
    export = f"torch.export.export(model, {unpack}, {dynamic}strict={finding.mode == 'strict'}{further})"
    wrap = transforms.built(finding, "model")
    fresh = "fresh()" if seed or device or wrap else "make()"
    lower = runner.expression if program.has_kwargs else runner.expression.replace("kwargs", "{}")
    turned = transforms.program(finding, dynamic=has_spec)
    if finding.check == "structure" or "recorded" in finding.signature:
        # What is compared with the model is what became of the program.
        before, _, after = turned.rpartition("(ep")
        export = f"{before}({export}{after}" if before else export
    else:
        lower = lower.replace("ep", turned, 1)
    call = _call(finding)
    original, copied = transforms.copying(finding, runner.expression)
    values = {
        "original": original,
        "copied": copied,
        "make": fresh,
        "unpack": unpack,
        "given": unpack if program.has_kwargs else "args, {}",
        "unpack_all": unpack if program.has_kwargs else "args, _",
        "star": star,
        "export": export,
        "lower": transforms.lowered(finding, lower, fresh),
        "runner": _name(finding),
        "mode": finding.mode,
        "inputs": f"{fresh}[1:]" if program.has_kwargs else f"{fresh}[1]",
        "calls": str(call + 1),
        "seconds": str(HANG_SECONDS),
        "reseed": "torch.manual_seed(call)" if call else "torch.manual_seed(0)",
        "error": _raised(finding),
        "name": _named(finding),
    }
    pieces = [text.replace("$", "$$") for text in transforms.helpers(finding)]
    if runner.helper and not runs:
        pieces.append(runner.helper)
    if sizes:
        pieces.append(sizes)
    if fresh == "fresh()":
        pieces.append(parts.fresh(seed=bool(seed), device=device, wrap=wrap))
    if call:
        probes = call >= CALLS
        random = probes and "rand" in program.source
        pieces.append(parts.inputs(kwargs=program.has_kwargs, probes=probes, seed=random, device=device))
    special = written(finding)
    pieces += special.look if special else looks.look(finding)
    main = special.main if special else parts.main(finding)
    if runs:
        pieces.insert(0, compiled.helper(finding, random=program.random_forward))
        main = compiled.without_export(main)
    if finding.mode == "pipeline":
        # Where export fails, it does so by itself.
        main = parts.leaves_only(main if finding.stage == "export" else compiled.without_export(main))
    for name in transforms.in_eager(finding):
        main = parts.done_to_eager(main, name)
    pieces.append(parts.script(main, reseed=program.random_forward))
    return "\n\n\n".join(["", *(Template(p).substitute(values).strip("\n") for p in pieces)]) + "\n"


def _name(finding: Finding) -> str:
    """Return what the file calls the thing that it compares with eager."""
    if finding.mode == "compile":
        return "torch.compile"
    return "+".join((*finding.transforms, finding.runner))


def _call(finding: Finding) -> int:
    """Return the call up to which the file has to go; what comes after the ordinary ones stands alone."""
    alone = {"edit", "write", "accepted", "served", "refused-but-changed", "raised"} & {*finding.signature}
    # A model that is compiled gets its first call twice (harness/paths/compiled.py).
    call = (finding.call or 0) - (finding.mode == "compile" and (finding.call or 0) > 1)
    return 0 if alone else call


def _raised(finding: Finding) -> str:
    """Return the class of the exception that a finding is about."""
    raised = re.search(r"raised (\w+)", finding.message)
    refused = re.search(r"^(\w+): ", finding.message, re.MULTILINE)
    found = raised or refused
    return found[1] if found else "Exception"


def _named(finding: Finding) -> str:
    """Return the parameter or buffer that a finding is about."""
    found = re.search(r"(?:parameter|buffer|constant) ([\w.@]+)", finding.message)
    return found[1] if found else ""
