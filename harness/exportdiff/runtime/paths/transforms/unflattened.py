"""Transforms of what ``unflatten`` returns: what such modules offer in addition to being called."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

from exportdiff.core.lazy import torch
from exportdiff.runtime.paths.transforms.table import transform

if TYPE_CHECKING:
    from torch.export import UnflattenedModule


@transform(
    "module",
    "nonstrict:unflatten",
    "nonstrict+preserve:unflatten",
    runner="unflatten",
    cost=10,
    needs=("torch.export.unflatten.InterpreterModuleDispatcher",),
)
def described(module: UnflattenedModule) -> UnflattenedModule:
    """An unflattened model, and each of its modules, can be printed; that changes nothing."""
    # Methods of the classes: a model may have attributes of their names.
    from torch.export.unflatten import InterpreterModule, InterpreterModuleDispatcher, UnflattenedModule

    show: Any  # torch leaves these methods without types
    with contextlib.redirect_stdout(io.StringIO()):
        for show in (UnflattenedModule._print_graph, UnflattenedModule.print_readable):
            show(module)
        for part in module.modules():
            for kind in (InterpreterModule, InterpreterModuleDispatcher):
                for show in (kind.type_name, kind.print_readable) if isinstance(part, kind) else ():
                    show(part)
            if isinstance(part, InterpreterModuleDispatcher):
                show = InterpreterModuleDispatcher.call_modules
                show(part)
    return module


# The adapter runs before the checks of the inputs, so these do not see the original call.
@transform("module", "nonstrict:unflatten", runner="unflatten", not_promised=("deviations",), cost=5)
def adapted(module: UnflattenedModule) -> UnflattenedModule:
    """An unflattened model can be called with arguments in another structure, which an adapter undoes."""

    class Reversed(torch.export.FlatArgsAdapter):
        def adapt(
            self,
            target_spec: object,
            input_spec: object,
            input_args: list[Any],
            metadata: object = None,
            obj: object = None,
        ) -> list[Any]:
            return input_args[::-1]

    process: Any = module.process_forward_inputs  # torch leaves it without types

    def quietly(*args: Any, **kwargs: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):  # the first call prints both structures
            return process(*args, **kwargs)

    def rearrange(module: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        leaves = torch.utils._pytree.tree_leaves((args, kwargs))
        return (leaves[::-1],), {}  # keywords would have to be those of the model

    module.flat_args_adapter = Reversed()
    vars(module)["process_forward_inputs"] = quietly
    module.register_forward_pre_hook(rearrange, with_kwargs=True)
    return module


@transform(
    "module",
    "nonstrict:unflatten",
    "nonstrict+preserve:unflatten",
    runner="unflatten",
    cost=5,
    needs=("torch.export.unflatten.InterpreterModuleDispatcher",),
)
def generated(module: UnflattenedModule) -> UnflattenedModule:
    """Generated code, which is what Dynamo traces, runs the graphs as the interpreter does."""
    for part in module.modules():
        for call in (part, *getattr(part, "_call_modules", ())):
            if hasattr(call, "_run_with_interpreter"):
                call._run_with_interpreter = False
    return module
