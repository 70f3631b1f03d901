"""Makes a Case from the name of a factory, or from a model. A mistake of the user is reported in one line."""

from __future__ import annotations

import copy
import importlib
import importlib.util
import pathlib
import sys
import traceback
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from exportdiff.core.case import OPTIONAL_FUNCTIONS, Built, Case, InvalidFactory
from exportdiff.core.errors import UsageError
from exportdiff.core.torch_versions.running import DYNAMIC_SHAPES_CLASSES, SHAPES_COLLECTION
from exportdiff.interfaces.checking.given import NOTHING
from exportdiff.interfaces.checking.identifying import identity
from exportdiff.interfaces.checking.input_files import read_inputs
from exportdiff.interfaces.checking.judged_program import with_program
from exportdiff.interfaces.checking.replaced_inputs import other_dtypes, with_inputs
from exportdiff.interfaces.checking.written_shapes import to_torch

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from exportdiff.core.target import Target
    from exportdiff.interfaces.checking.given import Given


_SHAPES: tuple[type, ...] = (NoneType, Mapping, tuple, list, *DYNAMIC_SHAPES_CLASSES)
"""Types that ``torch.export.export`` accepts as dynamic shapes."""


def load(target: Target, written: object = None, given: Given = NOTHING) -> Case:
    """Import the target and build it. Raises UsageError, which names the exception and its line.

    ``written``: dynamic shapes as ``pyproject.toml`` has them; they replace those of the file. ``given``: the
    files to judge or to read, and what is tolerated.
    """
    module = _import(target)
    file = getattr(module, "__file__", None)
    if not hasattr(module, target.name):
        raise UsageError(f"{target.module} defines no {target.name!r}")
    factory = getattr(module, target.name)
    if isinstance(factory, nn.Module) or not callable(factory):
        kind = type(factory).__name__
        raise UsageError(f"{target.written} is a {kind}; name a callable that returns (model, args)")
    source = pathlib.Path(file).read_text(encoding="utf-8") if file and file.endswith(".py") else ""
    shapes, probes = (_function(getattr(module, name, None)) for name in OPTIONAL_FUNCTIONS)
    if written is not None:
        shapes = partial(to_torch, written)
    make = factory
    if given.inputs is not None:
        make = with_inputs(factory, read_inputs(given.folder / given.inputs, given.inputs), given.inputs)
    case = _case(target.written, source, make, shapes, probes)
    case = replace(case, identity=identity(check(case, file).model, factory, file, target.name))
    case = replace(case, tolerance=given.tolerance)
    if given.inputs is not None:
        case = replace(case, notes=tuple(other_dtypes(factory, case.build(), given.inputs)))
    if given.program is not None:
        case = with_program(case, given.folder / given.program, given.program)
    return case


def case_of(
    model: nn.Module | Callable[[], object],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: object = None,
    probes: object = None,
    name: str = "",
) -> Case:
    """Make a Case from a factory, or from a model, which is copied and not changed.

    A factory returns a model, ``(model, args)`` or ``(model, args, kwargs)``. ``dynamic_shapes`` and
    ``probes`` are values, or functions that return them. Raises UsageError.
    """
    if not isinstance(args, tuple):
        raise UsageError(f"args is a {type(args).__name__}, not a tuple; one argument is written (x,)")
    if kwargs is not None and not isinstance(kwargs, dict):
        raise UsageError(f"kwargs is a {type(kwargs).__name__}, not a dict")
    if isinstance(model, nn.Module):
        refuse_wrapped(model, "the model")
        written = name or type(model).__name__
        make = _copier(model, args, dict(kwargs or {}))
        dynamic_shapes = _by_argument(dynamic_shapes, model, args, kwargs)
    elif callable(model):
        written = name or getattr(model, "__name__", type(model).__name__)
        make = _completed(model, args, dict(kwargs or {}))
    else:
        raise UsageError(
            f"the model is a {type(model).__name__}; give an nn.Module or a function that returns one"
        )
    case = _case(written, "", make, _function(dynamic_shapes), _function(probes))
    return replace(case, identity=identity(check(case, None).model, model))


def _by_argument(shapes: object, model: nn.Module, args: tuple[Any, ...], kwargs: object) -> object:
    """Return the shapes of a ShapesCollection by argument: it names tensors, and copies are exported."""
    if not isinstance(shapes, SHAPES_COLLECTION):
        return shapes
    collected: Any = shapes
    try:
        return collected.dynamic_shapes(model, args, kwargs)
    except ValueError as error:
        raise UsageError(f"dynamic_shapes: {error}") from None


def _case(
    written: str,
    source: str,
    make: Callable[[], object],
    shapes: Callable[[], object] | None,
    probes: Callable[[], object] | None,
) -> Case:
    """Return the case of a user's model."""
    return Case(written, source, make, shapes, probes, thorough=True, may_ask=True, own_probes=True)


def _function(given: object) -> Callable[[], object] | None:
    """Return a function that returns the given value; a given function is returned unchanged."""
    if given is None:
        return None
    if callable(given):
        return given
    return lambda: copy.deepcopy(given)


def _copier(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[], object]:
    def make() -> object:
        # Copied together, so that they still share what they share.
        return copy.deepcopy((model, args, kwargs))

    try:
        make()
    except Exception as error:
        text = str(error).partition("\n")[0]
        raise UsageError(
            f"the model or its inputs cannot be copied ({type(error).__name__}: {text}); give a function "
            "that builds a fresh model"
        ) from None
    return make


def _completed(
    factory: Callable[[], object], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Callable[[], object]:
    def make() -> object:
        made = factory()
        return (made, *copy.deepcopy((args, kwargs))) if isinstance(made, nn.Module) else made

    return make


def check(case: Case, file: str | None) -> Built:
    """Build the case twice; return the first model and its inputs.

    Raises UsageError if it cannot be judged, with the reason and the line.
    """
    try:
        first, second = case.build(), case.build()
        shapes = case.shapes()
    except InvalidFactory as error:
        raise UsageError(str(error)) from None
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"{case.name} raised {described(error, file)}") from None
    refuse_wrapped(first.model, f"{case.name}: the model")
    if not isinstance(shapes, _SHAPES):
        kind = type(shapes).__name__
        raise UsageError(f"{case.name}: dynamic_shapes is a {kind}; torch.export takes a dict, tuple or list")
    _refuse_without_values(first, case.name)
    if _shared(first.model, second.model):
        raise UsageError(
            f"{case.name} returns the same model each time, or one with the same parameters: build a fresh "
            "model inside it"
        )
    return first


def refuse_wrapped(model: nn.Module, what: str) -> None:
    """Raise UsageError for a scripted or compiled model."""
    if isinstance(model, torch.jit.ScriptModule):
        raise UsageError(f"{what} is a ScriptModule, which torch.export does not accept: do not script it")
    if isinstance(model, torch._dynamo.eval_frame.OptimizedModule):
        raise UsageError(f"{what} is wrapped by torch.compile: give the module without it")
    for name, module in model.named_modules():
        if module._compiled_call_impl is not None:
            part = f"its submodule {name}" if name else "it"
            raise UsageError(f"{what} is compiled, {part} by Module.compile(): do not compile it")


def _refuse_without_values(built: Built, name: str) -> None:
    """Raise UsageError for lazy and meta tensors, which have no values to compare."""
    from torch.nn.parameter import is_lazy
    from torch.utils import _pytree as pytree

    named = [*built.model.named_parameters(), *built.model.named_buffers()]
    for written, tensor in named:
        if is_lazy(tensor):
            raise UsageError(
                f"{name}: {written} of the model is not initialized: call the model once in the factory"
            )
    given = [(f"input {n}", leaf) for n, leaf in enumerate(pytree.tree_leaves((built.args, built.kwargs)))]
    for written, value in [*((f"{written} of the model", tensor) for written, tensor in named), *given]:
        if isinstance(value, torch.Tensor) and value.is_meta:
            raise UsageError(f"{name}: {written} is on the meta device, where it has no values to compare")


def _shared(one: nn.Module, other: nn.Module) -> bool:
    ours, theirs = (
        {id(each) for each in (*model.modules(), *model.parameters(), *model.buffers())}
        for model in (one, other)
    )
    return not ours.isdisjoint(theirs)


def _import(target: Target) -> ModuleType:
    file = pathlib.Path(target.module)
    # As in ``python FILE``, the file can import from its folder.
    sys.path.insert(0, str(file.resolve().parent) if target.module.endswith(".py") else "")
    try:
        if not target.module.endswith(".py"):
            return importlib.import_module(target.module)
        name = _module_name(file)
        # A child process runs in a folder of links to the files of the user. A finding names the file itself.
        spec = importlib.util.spec_from_file_location(name, file.resolve())
        if spec is None or spec.loader is None:
            raise UsageError(f"{file} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        # Dynamo imports the module of each function that it inlines.
        sys.modules[name] = module
        spec.loader.exec_module(module)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"{target.module} does not import: {described(error, str(file))}") from None
    return module


def _module_name(file: pathlib.Path) -> str:
    """Return the name under which other files import this one; another one if that is taken, as ``json``.

    Messages then show the classes of the user under their own names.
    """
    try:
        found = importlib.util.find_spec(file.stem)
    except (ImportError, ValueError):
        found = None
    own = found is None or (
        found.origin is not None and pathlib.Path(found.origin).resolve() == file.resolve()
    )
    return file.stem if own and file.stem not in sys.modules else f"{file.stem}_"


def described(error: BaseException, file: str | None) -> str:
    """Return ``NameError: name 'x' is not defined (line 3)``."""
    lines = str(error).strip().splitlines()
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} (line {error.lineno})"
    inside = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if file is not None and pathlib.Path(frame.filename).resolve() == pathlib.Path(file).resolve()
    ]
    return f"{text} (line {inside[-1]})" if inside else text
