"""Writes a finding and its program as a self-contained file that shows exactly this difference.

The file imports torch and nothing of this project. It consists of short pieces, and contains only those that
this finding needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from exportdiff.repro import transforms
from exportdiff.repro.paste import Template, names_in
from exportdiff.repro.program import MODULES, future_first, program_of, read_program
from exportdiff.repro.runners import run_by_eager, run_from, runner_helpers, runner_name
from exportdiff.repro.script import ScriptSetting, filled, script
from exportdiff.repro.templates import inputs, properties
from exportdiff.repro.writers.table import parts_of
from exportdiff.runtime import second_device
from exportdiff.runtime.inputs.copies import CALLS
from exportdiff.runtime.paths.backends import mode_of, packages, runner_of

if TYPE_CHECKING:
    from exportdiff.core.finding import Finding
    from exportdiff.repro.parts import ScriptParts
    from exportdiff.repro.paste import Values
    from exportdiff.repro.program import ParsedProgram

HANG_SECONDS = 60
"""Seconds after which the file reports a hang."""


@dataclass(frozen=True)
class NeededFixes:
    """The fixes that must be installed for a file to show its bug."""

    fixes: tuple[str, ...]
    """Their names in the corpus."""
    key: Literal["unmasked-by", "caused-by"]
    """Without the fixes, a known bug hides this one (``unmasked-by``), or torch is right (``caused-by``)."""


def repro_source(finding: Finding, source: str, needs: NeededFixes | None = None) -> str:
    """Return the text of the repro file; ``needs``: the fixes without which torch does not show the finding.

    Raises NoReproError for an unknown check, mode or runner, and for a finding that no writer can show.
    """
    parts = parts_of(finding)
    program = read_program(program_of(source, probes=parts.call >= CALLS or parts.calls_probes))
    body = _body(finding, parts, program)
    future, rest = future_first(program.source)
    head = (
        _header(finding, parts.call, needs),
        *future,
        _imports(body, rest, finding.device),
        rest.strip("\n"),
    )
    return "\n".join(head) + body


def _header(finding: Finding, call: int, needs: NeededFixes | None) -> str:
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
    needed = [f"torch=={torch}", *(f"{name}=={version(name)}" for name in packages(finding.mode))]
    lines = [
        "# /// script",
        '# requires-python = ">=3.10"',
        f"# dependencies = {json.dumps(needed)}",
        "#",
        "# [tool.exportdiff]",
        # A JSON string or list of strings is the same thing in TOML.
        *(f"# {key} = {json.dumps(value)}" for key, value in fields.items()),
        "# ///",
    ]
    if needs is not None:
        because = {"unmasked-by": "a known bug hides this one", "caused-by": "torch is right"}[needs.key]
        lines.append(f"# Shows only with these fixes of known bugs in place; without them, {because}:")
        lines += [f"# {name}" for name in needs.fixes]
    if finding.stage == "run" and finding.kind == "mismatch" and call:
        probe = f", which is probe {call - CALLS}" if call >= CALLS else ""
        lines.append(f"# Shows in call {call}, counted from 0{probe}.")
    if finding.first_difference is not None:
        lines += [f"# {line}" for line in finding.first_difference.lines()]
    return "\n".join(lines)


def _imports(body: str, program: str, device: str) -> str:
    """Return the imports of the part below the program, without those that the program has."""
    there = {line.removeprefix("import ") for line in program.splitlines() if line.startswith("import ")}
    named = names_in(body) - there
    lines = [f"import {name}" for name in MODULES if name in named]
    if device == second_device.NAME:
        lines += ["", "from harness import second_device  # of exportdiff: torch has no such device", ""]
        lines += ["second_device.load()"]
    return "\n".join((*lines, ""))


def _body(finding: Finding, parts: ScriptParts, program: ParsedProgram) -> str:
    """Return the part below the program."""
    device = finding.device if finding.device != "cpu" else ""
    wrap = transforms.wrapped("model", finding)
    sizes = transforms.sizes(finding)
    fresh = "fresh()" if "build" in finding.draws or device or wrap != "model" else "make()"
    setting = _setting(finding, parts, program, fresh, dynamic=program.dynamic or bool(sizes))

    pieces = transforms.helpers(finding)
    pieces += runner_helpers(finding, random="calls" in finding.draws)
    pieces += sizes
    if fresh == "fresh()":
        function = inputs.fresh if wrap == "model" else inputs.fresh_changed
        values: Values = {
            "SEED": "build" in finding.draws,
            "ON_DEVICE": bool(device),
            "DEVICE": device,
            "CHANGED": wrap,
        }
        pieces.append(Template(function, values, name="fresh").text)
    if program.of_parts:
        pieces.append(Template(inputs.parts).text)
    if parts.call:
        pieces.append(filled(_inputs(finding, program, device, probes=parts.call >= CALLS).text, setting))
    pieces += [_about_parts(template, program).text for template in parts.functions]
    calls_probes = parts.calls_probes and (program.has_probes or bool(sizes))
    on_device: Values = {
        "PROBES": calls_probes,
        "given_probes": "probes",
        "ON_DEVICE": bool(device),
        "DEVICE": device,
    }
    of_script = [replace(each, values={**on_device, **each.values}) for each in parts.script]
    pieces.append(script(of_script, setting))
    return "\n\n\n".join(["", *(piece.strip("\n") for piece in pieces)]) + "\n"


def _about_parts(template: Template, program: ParsedProgram) -> Template:
    """Return an observing function that compares the numbers of tensors part by part."""
    numbers = template.values.get("FACT", properties.values) is properties.values
    return replace(template, values={**template.values, "OF_PARTS": program.of_parts and numbers})


def _inputs(finding: Finding, program: ParsedProgram, device: str, *, probes: bool) -> Template:
    """Return the function that makes the inputs of a call."""
    values: Values = {
        "PROBES": probes,
        "SEED": "build" in finding.draws,
        "ON_DEVICE": bool(device),
        "DEVICE": device,
        "HAS_KWARGS": program.has_kwargs,
        "OF_PARTS": program.of_parts,
        "FIRST_PROBE": str(CALLS),
        "given_probes": "probes",
    }
    return Template(inputs.inputs, values)


def _setting(
    finding: Finding, parts: ScriptParts, program: ParsedProgram, fresh: str, *, dynamic: bool
) -> ScriptSetting:
    """Return what the script depends on."""
    unpack = "args, kwargs" if program.has_kwargs else "args"
    spec = "dynamic_shapes=dynamic_shapes(), " if dynamic else ""
    further = transforms.export_arguments(finding)
    run = run_from("ep", finding, has_kwargs=program.has_kwargs, dynamic=dynamic)
    call = mode_of(finding.mode).call
    export = f"{call}(model, {unpack}, {spec}strict={finding.mode == 'strict'}{further})"
    if parts.of_program:
        export = transforms.program(export, finding, dynamic=dynamic)
        turned = "ep"
    else:
        turned = transforms.program("ep", finding, dynamic=dynamic)
    original, copied = transforms.copying(finding, run)
    made = run_from(turned, finding, has_kwargs=program.has_kwargs, dynamic=dynamic)
    pipeline = finding.mode == "pipeline"
    return ScriptSetting(
        calls={
            "make": fresh,
            "export": transforms.in_settings(export, finding),
            "lower": transforms.in_settings(transforms.lowered(made, finding, turned, fresh), finding),
            "inputs": f"{fresh}[1:]" if program.has_kwargs else f"{fresh}[1]",
        },
        names={
            "RUNNER": runner_name(finding),
            "CALLS": str(parts.call + 1),
            "SECONDS": str(HANG_SECONDS),
            "ORIGINAL": original,
            "COPIED": copied,
        },
        has_kwargs=program.has_kwargs,
        observes=parts.observes,
        reseed=f"torch.manual_seed({'call' if parts.call else 0})" if "calls" in finding.draws else "",
        # A pipeline exports by itself, and shows no more than the leaves of outputs.
        exports=finding.mode != "compile"
        and not (pipeline and finding.stage != "export")
        and runner_of(finding.path).starts_from != "model",
        leaves_only=pipeline,
        done_to_eager=(*transforms.in_eager(finding, fresh), *run_by_eager(finding)),
        deviating=parts.deviating,
    )
