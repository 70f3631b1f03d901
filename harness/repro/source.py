"""A finding and its program -> a self-contained file that shows exactly this difference.

The file imports torch and nothing of this project. It is put together from short pieces, one for each
thing that can differ, so that it holds what this finding needs and nothing else.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import TYPE_CHECKING

from harness.inputs.copies import CALLS
from harness.paths.run.pipelined import PIPELINES
from harness.repro import transforms
from harness.repro.parts import NoReproError
from harness.repro.paste import Template, names_in
from harness.repro.program import MODULES, program_of, read_program
from harness.repro.script import Setting, filled, script
from harness.repro.templates import inputs, runners
from harness.repro.writers.table import parts_of

if TYPE_CHECKING:
    from harness.findings import Finding
    from harness.repro.parts import Parts
    from harness.repro.paste import Values
    from harness.repro.program import Program

HANG_SECONDS = 30
"""After so long, the file itself calls it a hang."""


def repro_source(finding: Finding, source: str) -> str:
    """Return the text of the repro file.

    Raises NoReproError for an unknown check, mode or runner, and for a finding that no writer knows.
    """
    parts = parts_of(finding)
    program = read_program(program_of(source, probes=parts.call >= CALLS))
    body = _body(finding, parts, program)
    return "\n".join((_header(finding, parts.call), _imports(body), program.source.strip("\n"))) + body


def _header(finding: Finding, call: int) -> str:
    torch = version("torch").partition("+")[0]
    fields = {
        "fingerprint": finding.fingerprint,
        "path": str(finding.path),
        "check": finding.check,
        "kind": finding.kind,
        "stage": finding.stage,
        "signature": list(finding.signature),
        "torch": torch,
        "status": "open",
    }
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
    if finding.stage == "run" and finding.kind == "mismatch" and call:
        probe = f", which is probe {call - CALLS}" if call >= CALLS else ""
        lines.append(f"# Shows in call {call}, counted from 0{probe}.")
    return "\n".join(lines)


def _imports(body: str) -> str:
    named = names_in(body)
    return "\n".join((*(f"import {name}" for name in MODULES if name in named), ""))


def _body(finding: Finding, parts: Parts, program: Program) -> str:
    """Put the part below the program together."""
    device = finding.device if finding.device != "cpu" else ""
    wrap = transforms.wrapped("model", finding)
    sizes = transforms.sizes(finding)
    fresh = "fresh()" if program.random_build or device or wrap != "model" else "make()"
    setting = _setting(finding, parts, program, fresh, dynamic=program.dynamic or bool(sizes))

    pieces = transforms.helpers(finding)
    if finding.mode == "compile":
        values: Values = {"RANDOM": program.random_forward, "BACKEND": BACKENDS[finding.runner]}
        pieces.insert(0, Template(runners.compiled, values).text)
    if finding.runner == "package":
        pieces.append(Template(runners.packaged).text)
    pieces += sizes
    if fresh == "fresh()":
        changed: Values = {} if wrap == "model" else {"CHANGED": wrap}
        function = inputs.fresh_changed if changed else inputs.fresh
        values = {"SEED": program.random_build, "ON_DEVICE": bool(device), "DEVICE": device}
        pieces.append(Template(function, {**values, **changed}, name="fresh").text)
    if parts.call:
        pieces.append(filled(_inputs(program, device, probes=parts.call >= CALLS).text, setting))
    pieces += [template.text for template in parts.functions]
    pieces.append(script(parts.script, setting))
    return "\n\n\n".join(["", *(piece.strip("\n") for piece in pieces)]) + "\n"


def _inputs(program: Program, device: str, *, probes: bool) -> Template:
    """Return the function that makes the inputs of a call."""
    values: Values = {
        "PROBES": probes,
        "SEED": program.random_probes,
        "ON_DEVICE": bool(device),
        "DEVICE": device,
        "HAS_KWARGS": program.has_kwargs,
        "FIRST_PROBE": str(CALLS),
        "given_probes": "probes",
    }
    return Template(inputs.inputs, values)


def _setting(finding: Finding, parts: Parts, program: Program, fresh: str, *, dynamic: bool) -> Setting:
    """Return what the script needs to know."""
    unpack = "args, kwargs" if program.has_kwargs else "args"
    spec = "dynamic_shapes=dynamic_shapes(), " if dynamic else ""
    further = transforms.export_arguments(finding)
    export = f"torch.export.export(model, {unpack}, {spec}strict={finding.mode == 'strict'}{further})"
    if parts.of_program:
        export = transforms.program(export, finding, dynamic=dynamic)
        turned = "ep"
    else:
        turned = transforms.program("ep", finding, dynamic=dynamic)
    made = _runner(finding, "kwargs" if program.has_kwargs else "{}")
    original, copied = transforms.copying(finding, made.format("ep"))
    pipeline = finding.mode == "pipeline"
    return Setting(
        calls={
            "make": fresh,
            "export": export,
            "lower": transforms.lowered(made.format(turned), finding, fresh),
            "inputs": f"{fresh}[1:]" if program.has_kwargs else f"{fresh}[1]",
        },
        names={
            "RUNNER": "torch.compile"
            if finding.mode == "compile"
            else "+".join((*finding.transforms, finding.runner)),
            "CALLS": str(parts.call + 1),
            "SECONDS": str(HANG_SECONDS),
            "ORIGINAL": original,
            "COPIED": copied,
        },
        has_kwargs=program.has_kwargs,
        observes=parts.observes,
        reseed=f"torch.manual_seed({'call' if parts.call else 0})" if program.random_forward else "",
        # A pipeline exports by itself, and shows no more than the leaves of outputs.
        exports=finding.mode != "compile" and not (pipeline and finding.stage != "export"),
        leaves_only=pipeline,
        done_to_eager=transforms.in_eager(finding),
        deviating=parts.deviating,
    )


BACKENDS = {"compiled": "eager", "aot_eager": "aot_eager", "inductor": "inductor"}
"""The backend of torch.compile, by runner."""

_EXPORTED = {"module": "{}.module()", "unflatten": "torch.export.unflatten({})"}
_RUNNERS = {
    "nonstrict": _EXPORTED,
    "strict": _EXPORTED,
    "compile": dict.fromkeys(BACKENDS, "compiled(model)"),
    "pipeline": {name: f"{name}(model, args, KWARGS)" for name in PIPELINES},
    "aoti": {"package": "packaged({})"},
}
"""By mode and runner: how to make what is compared with eager from a program."""


def _runner(finding: Finding, kwargs: str) -> str:
    made = _RUNNERS.get(finding.mode, {}).get(finding.runner)
    if made is None:
        raise NoReproError(f"no way to write down the path {finding.path}")
    return made.replace("KWARGS", kwargs.replace("{", "{{").replace("}", "}}"))
