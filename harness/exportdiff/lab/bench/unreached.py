"""Lines of torch/export/unflatten.py that campaigns may not run: what would run each.

An entry names a function and words of the statement, because line numbers change with every version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Why = Literal["never", "objects", "misuse", "private", "unjudged", "rare"]

MEANINGS: dict[Why, str] = {
    "never": "torch rules it out before: it would take a bug of torch",
    "objects": "it takes objects that programs do not have",
    "misuse": "it takes a caller who does what torch refuses in words",
    "private": "no documented function calls it",
    "unjudged": "its result need not be that of eager",
    "rare": "programs can run it, and few do",
}

BEYOND: frozenset[Why] = frozenset({"never", "objects"})
"""What no program can run without a bug of torch, or without objects of others."""


@dataclass(frozen=True)
class Unreached:
    """Statements of one function, and what would run them."""

    function: str
    """Its qualified name; a function inside another is ``outer.inner``."""
    words: tuple[str, ...]
    """A statement belongs here if its text, or that of one around it, contains any of these; empty: all of
    the function does."""
    why: Why
    needs: str

    def holds(self, function: str, text: str) -> bool:
        """Whether a statement with this text, of this function, belongs here."""
        return function == self.function and (not self.words or any(word in text for word in self.words))


UNREACHED: tuple[Unreached, ...] = (
    Unreached(
        "_disable_interpreter",
        (),
        "private",
        "calling unflatten in this with block; the path +generated sets the flag afterwards",
    ),
    Unreached(
        "_assign_attr",
        ("attr_kind == _AttrKind.MODULE",),
        "private",
        "torch.export._swap._swap_modules, which nothing in torch calls",
    ),
    Unreached(
        "_assign_attr",
        (
            "for PARAMETER attr_kind",
            "for BUFFER attr_kind",
            "FakeScriptObject should",
            "for CONSTANT",
            "for MODULE",
        ),
        "never",
        "state of another kind than the graph signature says",
    ),
    Unreached(
        "InterpreterModule.forward",
        ("Didn't finalize",),
        "never",
        "a submodule called before finalize, which unflatten calls itself",
    ),
    Unreached(
        "InterpreterModule.forward",
        ("does not match kwargs length", "does not match arg_names length"),
        "misuse",
        "a submodule called alone, with keywords that its graph lacks",
    ),
    Unreached(
        "InterpreterModuleDispatcher.__init__",
        ("call_modules must not be empty",),
        "never",
        "a dispatcher for no calls; it is made for two or more",
    ),
    Unreached(
        "InterpreterModuleDispatcher.__init__",
        ("setattr(self, accessor",),
        "rare",
        "state of a module that is preserved and called in two ways",
    ),
    Unreached(
        "InterpreterModuleDispatcher.forward",
        ("except Exception",),
        "rare",
        "a preserved module called in two ways, in which an operator raises, as in a deviating call",
    ),
    Unreached(
        "FlatArgsAdapter.get_flat_arg_paths",
        (),
        "rare",
        "an adapter without paths of its own, as on the path +adapted",
    ),
    Unreached(
        "UnflattenedModule.__init__",
        ("JointExportModule",),
        "misuse",
        "a joint graph, of forward and backward, which unflatten refuses",
    ),
    Unreached(
        "UnflattenedModule.__init__._id",
        ("return id(obj)",),
        "objects",
        "a ScriptObject or an opaque object as a constant",
    ),
    Unreached(
        "UnflattenedModule.__init__",
        ("expected first fqn", "expected s.arg to have", "expected s.target to be"),
        "never",
        "a graph signature, or a module call graph, that export does not write",
    ),
    Unreached(
        "UnflattenedModule.__init__",
        ("id not found in consts_map",),
        "rare",
        "a constant that no input of the graph stands for",
    ),
    Unreached(
        "UnflattenedModule.__init__",
        ("id_to_buffer[_id(tensor)] =",),
        "rare",
        "a persistent buffer that nothing reads",
    ),
    Unreached(
        "UnflattenedModule._adapt_flat_args",
        ("if in_spec == signature.in_spec",),
        "never",
        "equal structures: the only caller has found them unequal",
    ),
    Unreached(
        "UnflattenedModule._adapt_flat_args",
        ("number of args mismatch",),
        "misuse",
        "an adapter that returns another number of leaves",
    ),
    Unreached(
        "UnflattenedModule.process_forward_inputs",
        ("flat_arg_paths length",),
        "misuse",
        "an adapter with another number of paths than leaves",
    ),
    Unreached(
        "UnflattenedModule._dispatch_modules",
        ("expected mod_ to have",),
        "never",
        "a call behind a dispatcher that has no graph",
    ),
    Unreached(
        "_inplace_buffer_and_input_mutations",
        ("expected output node",),
        "never",
        "a graph that does not end in one output",
    ),
    Unreached(
        "_fix_nn_module_stacks",
        ("break", "log.warning", "node.meta["),
        "rare",
        "a module that calls another which is not below it",
    ),
    Unreached(
        "_compute_accessor",
        ("is not a descendant",),
        "rare",
        "a module that calls a sibling whose name begins with its own",
    ),
    Unreached(
        "_check_graph_equivalence",
        ("expected x.graph", "expected y.graph"),
        "never",
        "a submodule without a graph",
    ),
    Unreached(
        "_generate_flatten",
        (),
        "private",
        "torch.export._swap._swap_modules, which nothing in torch calls",
    ),
    Unreached(
        "_get_submodule",
        ("return None",),
        "rare",
        "a name in the module call graph below a name that is no module",
    ),
    Unreached(
        "_add_submodule",
        ("submod = torch.nn.Module()",),
        "rare",
        "a module below one that runs no operator, where the module call graph lists it first",
    ),
    Unreached(
        "_add_submodule",
        ("return False",),
        "rare",
        "a module below a name that is something else",
    ),
    Unreached(
        "_ModuleFrame.__init__.create_module",
        ("return self.created_modules[path]",),
        "rare",
        "a module called before the one around it, of which a later call has another identity",
    ),
    Unreached(
        "_ModuleFrame.__init__",
        (
            "expected in_spec",
            "expected args_spec",
            "expected kwargs_spec",
            "expected input to be TensorArgument",
            "parent_call_module must not be None",
        ),
        "never",
        "a preserved signature that export does not write",
    ),
    Unreached(
        "_ModuleFrame.add_placeholder",
        ("Cannot add placeholder", "expected x.graph"),
        "never",
        "a node of another graph, or one that the root lacks",
    ),
    Unreached(
        "_ModuleFrame.copy_sym_call_function",
        (),
        "rare",
        "a size, or an item of a result, that a preserved module reads and its caller has read before",
    ),
    Unreached(
        "_ModuleFrame.remap_input",
        ("expected x.graph",),
        "never",
        "a node of another graph",
    ),
    Unreached(
        "_ModuleFrame.remap_input",
        ("torch.ops.aten.sym_size",),
        "rare",
        "a size, or an item of a result, that a preserved module reads and its caller has read before",
    ),
    Unreached(
        "_ModuleFrame.remap_input",
        ("Could not run remap_input",),
        "never",
        "a module both preserved and not: the branches before it cover both",
    ),
    Unreached(
        "_ModuleFrame.uplift_common_custom_metadata",
        ("parent_call_module must not be None",),
        "never",
        "the root among the submodules",
    ),
    Unreached(
        "_ModuleFrame.uplift_common_custom_metadata",
        (),
        "rare",
        "torch.fx.traceback.annotate around a call of a module, in strict mode or exported again",
    ),
    Unreached(
        "_ModuleFrame.finalize_outputs",
        ("Unsupported data type",),
        "objects",
        "a preserved module that returns a token or a ScriptObject",
    ),
    Unreached(
        "_ModuleFrame.finalize_outputs.get_actual_output_node",
        ("Could not find output node",),
        "rare",
        "a preserved module that returns what was made elsewhere",
    ),
    Unreached(
        "_ModuleFrame.finalize_outputs",
        ("expected graph_outputs", "if parent_out is None"),
        "never",
        "outputs that are neither a node nor a list, or those of the root",
    ),
    Unreached(
        "_ModuleFrame.print",
        (),
        "never",
        "verbose = True, which is written into the constructor as False",
    ),
    Unreached(
        "_ModuleFrame.run_from",
        (
            "unexpected placeholder",
            "node_module_stack must not be None",
            "expected node_module_stack",
            "Unable to find nn_module_stack",
        ),
        "never",
        "nodes out of order, or without a module stack: export writes one for each",
    ),
    Unreached(
        "_reorder_submodules",
        ("continue",),
        "never",
        "a child that is None, which unflatten does not register",
    ),
    Unreached(
        "_IVals._is_mutable",
        ("return False",),
        "rare",
        "a preserved module that reads the result of a region, as the value before a write",
    ),
    Unreached(
        "_IVals.read",
        ("expected node.op",),
        "rare",
        "a preserved module that reads a constant of its caller",
    ),
    Unreached(
        "_IVals.update",
        ("graph.inserting_after(node)",),
        "rare",
        "a decomposed program, and a preserved module that reads what another wrote to a buffer",
    ),
    Unreached(
        "_deduplicate_modules",
        ("elif not deduplicated",),
        "rare",
        "a module called alike under two names",
    ),
    Unreached(
        "_sink_params",
        ("expected graph to be", "expected state_attr"),
        "never",
        "a submodule whose graph is none, or state that is no tensor",
    ),
    Unreached("_SubmoduleBase.type_name", (), "rare", "the paths +described"),
    Unreached("InterpreterModule.print_readable", (), "rare", "the paths +described"),
    Unreached("InterpreterModuleDispatcher.call_modules", (), "rare", "the paths +described"),
    Unreached("InterpreterModuleDispatcher.print_readable", (), "rare", "the paths +described"),
    Unreached("UnflattenedModule._print_graph", (), "rare", "the paths +described"),
    Unreached("UnflattenedModule.print_readable", (), "rare", "the paths +described"),
    Unreached(
        "InterpreterModule.forward", ("type(self.graph_module).forward",), "rare", "the paths +generated"
    ),
    Unreached(
        "UnflattenedModule.forward", ("type(self.graph_module).forward",), "rare", "the paths +generated"
    ),
    Unreached("UnflattenedModule._adapt_flat_args", (), "rare", "the path +adapted"),
    Unreached(
        "UnflattenedModule.process_forward_inputs",
        ("self.adapted = True", "if self.adapted is True"),
        "rare",
        "the path +adapted",
    ),
    Unreached(
        "UnflattenedModule.process_forward_inputs",
        ("if is_fx_symbolic_tracing()",),
        "unjudged",
        "torch.fx.symbolic_trace of what unflatten returns: it runs what reads only state while it traces",
    ),
    Unreached(
        "UnflattenedModule.forward",
        ("if is_fx_symbolic_tracing()",),
        "unjudged",
        "torch.fx.symbolic_trace of what unflatten returns: it runs what reads only state while it traces",
    ),
)
"""More exact entries come before the others of their function."""
