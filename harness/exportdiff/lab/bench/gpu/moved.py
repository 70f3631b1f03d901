"""The tasks that compare one call: programs that move, inputs on two devices, autocast around the call."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch
from torch.utils import _pytree as pytree

from exportdiff.lab.bench.gpu.direct import AS_BUILT, Called, called, exported, model_of, unlike
from exportdiff.lab.bench.gpu.found import Difference, Ran, dropped
from exportdiff.lab.bench.gpu.texts import BOTH_DEVICES, drawn
from exportdiff.runtime.observing.tensors import storage_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.export import ExportedProgram


def between_devices(device: str, seed: int, index: int) -> Ran:
    """Export on one device, move the program to the other, and call it there; then the reverse.

    It counts only if the same program, exported where it is called, agrees with eager, and if a move from
    the CPU to the CPU changes nothing.
    """
    source, _ = drawn(seed, index)
    try:
        reason = _unfit(exported(source, device))
    except Exception as error:
        reason = f"export raises {type(error).__name__}"
    if reason:
        return dropped(reason)
    return _moved(source, "cpu", device, index) + _moved(source, device, "cpu", index)


def _unfit(program: ExportedProgram) -> str:
    """Return why a moved program may differ from eager; empty if it may not.

    The move copies each tensor of the state with ``Tensor.to``, to one device.
    """
    state = [each for each in (*program.state_dict.values(), *program.constants.values()) if _is_tensor(each)]
    values = pytree.tree_leaves([node.meta.get("val") for node in program.graph.nodes])
    if len({each.device for each in (*state, *filter(_is_tensor, values))}) > 1:
        return "the program uses two devices"
    if not all(each.is_contiguous() for each in state):
        return "a tensor of the state is not contiguous, and its copy is"
    if len({storage_id(each) for each in state}) < len(state):
        return "tensors of the state share memory, and their copies do not"
    return ""


def _is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def _moved(source: str, start: str, end: str, index: int) -> Ran:
    eager = _eager(source, end)
    if reason := _unsteady(eager, _eager(source, end)):
        return dropped(f"{reason} on {end}")
    _, inputs = model_of(source, end)
    if unlike(eager, called(lambda: exported(source, end).module(), inputs)):
        return dropped(f"what is exported on {end} differs from eager already")
    path = f"nonstrict+todevice({start} to {end}):module"
    difference = unlike(eager, called(lambda: _of_moved(source, start, end), inputs))
    if not difference:
        return Ran(1, 1)
    usual, (_, on_cpu) = _eager(source, "cpu"), model_of(source, "cpu")
    if unlike(usual, called(lambda: _of_moved(source, "cpu", "cpu"), on_cpu)):
        return Ran(1, 1, shared=1)
    if _dtypes(exported(source, start)) != _dtypes(exported(source, end)):
        return dropped("the program has other dtypes on the other device")
    return Ran(1, 1, differences=(Difference(f"todevice-{index}", path, "call", difference, source),))


def _dtypes(program: ExportedProgram) -> list[torch.dtype]:
    """Return the dtypes that the graph records: autocast of one device changes them on that device only."""
    values = pytree.tree_leaves([node.meta.get("val") for node in program.graph.nodes])
    return [each.dtype for each in values if isinstance(each, torch.Tensor)]


def _of_moved(source: str, start: str, end: str) -> Callable[..., object]:
    from torch.export.passes import move_to_device_pass

    return move_to_device_pass(exported(source, start), end).module()


def _eager(source: str, device: str) -> Called:
    model, inputs = model_of(source, device)
    return called(lambda: model, inputs)


def _unsteady(one: Called, other: Called) -> str:
    if one.raised:
        return f"eager raises {one.raised}"
    return f"eager disagrees with itself ({unlike(one, other)})" if unlike(one, other) else ""


def inputs_on_both(device: str, seed: int, index: int) -> Ran:
    """Compare a model with parameters and inputs on both devices; the CPU twice is the reference."""
    here = _of_both(BOTH_DEVICES[index], device)
    if isinstance(here, Ran):
        return here
    there = _of_both(BOTH_DEVICES[index], "cpu")
    known = set(there) if isinstance(there, dict) else set()
    source = BOTH_DEVICES[index].replace("DEVICE", device)
    new = {path: text for path, text in here.items() if path not in known}
    differences = tuple(Difference(f"both-{index}", path, "call", text, source) for path, text in new.items())
    return Ran(1, len(_WAYS), shared=len(here) - len(new), differences=differences)


def _of_both(template: str, device: str) -> dict[str, str] | Ran:
    """Return what differs, by path; or that the model could not be compared."""
    source = template.replace("DEVICE", device)
    eager = _eager(source, AS_BUILT)
    if reason := _unsteady(eager, _eager(source, AS_BUILT)):
        return dropped(reason)
    _, inputs = model_of(source, AS_BUILT)
    found = {path: unlike(eager, called(partial(way, source), inputs)) for path, way in _WAYS.items()}
    return {path: text for path, text in found.items() if text}


_WAYS: dict[str, Callable[[str], Callable[..., object]]] = {
    "nonstrict:module": lambda source: exported(source, AS_BUILT).module(),
    "strict:module": lambda source: exported(source, AS_BUILT, strict=True).module(),
    "nonstrict:unflatten": lambda source: torch.export.unflatten(exported(source, AS_BUILT)),
    "nonstrict+decompose:module": lambda source: exported(source, AS_BUILT).run_decompositions().module(),
    "compile:aot_eager": lambda source: torch.compile(model_of(source, AS_BUILT)[0], backend="aot_eager"),
}
"""From the text of a model to what is called, by path."""


def in_autocast_block(device: str, seed: int, index: int) -> Ran:
    """Export and call a drawn program in an autocast block; the CPU is the reference."""
    source, _ = drawn(seed, index)
    found = _in_autocast(source, device)
    if isinstance(found, Ran):
        return found
    if not found:
        return Ran(1, 1)
    there = _in_autocast(source, "cpu")
    if isinstance(there, str) and there:
        return Ran(1, 1, shared=1)
    path = f"nonstrict:module@{device} in autocast"
    return Ran(1, 1, differences=(Difference(f"block-{index}", path, "call", found, source),))


def _in_autocast(source: str, device: str) -> str | Ran:
    with torch.autocast(device, dtype=torch.bfloat16):
        eager = _eager(source, device)
        if reason := _unsteady(eager, _eager(source, device)):
            return dropped(reason)
        _, inputs = model_of(source, device)
        return unlike(eager, called(lambda: exported(source, device).module(), inputs))
