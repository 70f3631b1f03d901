"""The table of documented refusals: how torch says that it does not take a model.

A refusal is counted and is not a finding. List only what torch raises on purpose, with a message for the
author of the model. Internal errors (AssertionError, KeyError, SpecViolationError, INTERNAL ASSERT, ...) are
findings, even if export raises them.
"""

from __future__ import annotations

from exportdiff.judging.exemptions.refusal import DocumentedRefusal

REFUSALS: tuple[DocumentedRefusal, ...] = (
    DocumentedRefusal(
        "cond-strides",
        "RuntimeError",
        "torch/_higher_order_ops/cond.py, _merge_output: 'we cannot determine the expr of strides from the "
        "new shapes so we error out and hint users to call contiguous()'",
        r"one of cond's output stride is not a simple accumulative multiplication of sizes",
    ),
    DocumentedRefusal(
        "not-picklable",
        "Exception",
        "docs.pytorch.org, torch.export: programs are saved by torch.export.save; Python docs, pickle, 'What "
        "can be pickled and unpickled?'",
        r"Can't pickle|is not pickleable|cannot pickle",
        stage="lower",
    ),
    DocumentedRefusal(
        "not-picklable",
        "RuntimeError",
        "torch/serialization.py, _save: 'ensure that any other saved storages pointing to the same data all "
        "have the same dtype'; eager's model cannot be saved either",
        r"^Cannot save multiple tensors or storages that view the same data as different types",
        stage="lower",
    ),
    DocumentedRefusal(
        "not-serializable",
        "NotImplementedError",
        "torch/utils/_pytree.py, register_pytree_node: 'serialized_type_name', used for serializing "
        "the tree spec; torch/export/__init__.py, register_dataclass, has it too",
        r"^No registered serialization name for (?!<class 'torch\.return_types\.)"
        r"|^Can't serialize TreeSpec of namedtuple class ",
        stage="lower",
    ),
    DocumentedRefusal(
        "not-serializable",
        "torch._export.serde.serialize.SerializeError",
        "github.com/pytorch/pytorch/pull/141525, description: 'in general enum as an input is not "
        "supported'; torch/_export/serde/serialize.py, handle_placeholder: 'Unimplemented graph input type'",
        r"AssertionError: Unimplemented graph input type: ",
        stage="lower",
    ),
    DocumentedRefusal(
        "constant-mutated",
        "RuntimeError",
        "torch/_export/utils.py, _override_graph_signature_for_temp_registered_constants: 'Pls register it "
        "as buffer'; github.com/pytorch/pytorch/issues/197096: 'mutation of lifted tensor constants is "
        "unsupported'",
        r"^Constant \S+ is mutated in the forward method\. Pls register it as buffer",
        stage="lower",
    ),
    DocumentedRefusal(
        "metadata-mutation",
        "RuntimeError",
        "torch/_functorch/aot_autograd.py, create_aot_state: 'This is currently banned in the aot_export "
        "workflow'",
        r"^Found an input that received a metadata mutation",
        stage="lower",
    ),
    DocumentedRefusal(
        "mutated-aliases",
        "RuntimeError",
        "torch/_functorch/_aot_autograd/runtime_wrappers.py, AOTDedupeWrapper and AOTSyntheticBaseWrapper: "
        "'This functionality is currently not supported'",
        r"^\s*Encountered (duplicated|aliased|duplicated or aliased) inputs that are mutated in the graph",
        stage="lower",
    ),
    DocumentedRefusal(
        "mutated-aliases",
        "AssertionError",
        "torch/_functorch/_aot_autograd/runtime_wrappers.py, merge_view_inputs: 'For now, I'm banning a "
        "bunch of cases'; github.com/pytorch/pytorch/pull/88817",
        r"^aot_autograd\(\) does not yet handle (non-differentiable view input mutations"
        r"|input mutations on views with different dtypes)",
        stage="lower",
    ),
    DocumentedRefusal(
        "mutated-aliases",
        "torch._dynamo.exc.BackendCompilerFailed",
        "the same two, which Dynamo wraps where a backend compiles",
        r"raised:\n"
        r"(AssertionError: aot_autograd\(\) does not yet handle "
        r"(non-differentiable view input mutations|input mutations on views with different dtypes)"
        r"|RuntimeError: \s*Encountered (duplicated|aliased|duplicated or aliased) inputs that are mutated)",
        stage="run",
    ),
    DocumentedRefusal(
        "control-flow-op",
        "torch._dynamo.exc.UncapturedHigherOrderOpError",
        "torch/_dynamo/variables/higher_order_ops.py: 'Higher order ops do not support aliasing', with hints "
        "for the author of the model",
        r"Encountered aliasing during higher order op tracing",
        stage="run",
    ),
    DocumentedRefusal(
        "windows-mutated",
        "RuntimeError",
        "github.com/pytorch/pytorch/issues/165409: 'this is banned as the behavior is not well defined'; "
        "pull 99919",
        r"^While executing unfold, functionalization encountered a tensor being mutated that has internal",
        stage="lower",
    ),
    DocumentedRefusal(
        "as-strided-mutated",
        "RuntimeError",
        "github.com/pytorch/pytorch/issues/104505; pull 122502, 'ban mutations on non-compositional uses of "
        "as_strided'",
        r"encountered a mutation on a view chain of length \d+, where view \d+ was an as_strided\(\) call",
        stage="lower",
    ),
    DocumentedRefusal(
        "set-to-plain-tensor",
        "RuntimeError",
        "aten/src/ATen/FunctionalizeFallbackKernel.cpp, set__functionalize: 'We do not currently support "
        "x.set_(y) where y is not a FunctionalTensor'",
        r"^set__functionalize: We do not currently support x\.set_\(y\) where y is not a FunctionalTensor",
        stage="lower",
    ),
    DocumentedRefusal(
        "memory-before-set-mutated",
        "RuntimeError",
        "aten/src/ATen/FunctionalTensorWrapper.cpp, set__impl: 'FREEZE the old storage, preventing mutations "
        "to it', 'so we ban it'",
        r"^cannot mutate tensors with frozen storage",
        stage="lower",
    ),
    DocumentedRefusal(
        "input-metadata-mutation",
        "AssertionError",
        "torch/_functorch/_aot_autograd/functional_utils.py, _check_if_mutation_can_be_in_graph: 'This is "
        "not supported today'",
        r"^Encountered a set_ on a graph input, but the input has other mutations that we cannot",
        stage="lower",
    ),
    DocumentedRefusal(
        "unflattened-is-not-traced",
        "torch._dynamo.exc.Unsupported",
        "torch/export/unflatten.py, unflatten: 'Disable process_forward_inputs as the adapter has many "
        "non-dynamo-traceable behavior', with torch._dynamo.disable; non-strict export does not need Dynamo",
        r"^Skip calling `torch\.compiler\.disable\(\)`d function\n.*UnflattenedModule\.process_forward",
        stage="lower",
    ),
    DocumentedRefusal(
        "draft-is-unsound",
        "exportdiff.runtime.paths.modes.UnsoundError",
        "torch/export/__init__.py, draft_export: 'even if there are potential soundness issues, and to "
        "generate a report listing the issues found'",
    ),
    DocumentedRefusal(
        "dynamo-unsupported",
        "torch._dynamo.exc.Unsupported",
        "docs/source/export.md, 'Graph Breaks'; torch/_dynamo/exc.py",
    ),
    DocumentedRefusal(
        "dynamo-unsupported",
        "torch._dynamo.exc.Unsupported",
        "docs.pytorch.org, torch.compile, fullgraph: 'we require that the entire function be capturable into "
        "a single graph. If this is not possible (that is, if there are graph breaks), then this will raise "
        "an error'",
        stage="run",
        runner="fullgraph",
    ),
    DocumentedRefusal(
        "skip-connection",
        "torch.distributed.pipelining._utils.PipeliningMetadataError",
        "torch/distributed/pipelining/stage.py, _create_grad_recv_info: 'not supported yet'",
        r"Backward of skip connections not supported yet",
        stage="run",
        runner="scheduled",
    ),
    DocumentedRefusal(
        "data-dependent",
        "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode",
        "docs/source/export.md, 'Data/Shape-Dependent Control Flow'",
    ),
    DocumentedRefusal(
        "data-dependent",
        "torch._subclasses.fake_tensor.DataDependentOutputException",
        "docs/source/export.md, 'Data/Shape-Dependent Control Flow'",
    ),
    DocumentedRefusal(
        "dynamic-output-shape",
        "torch._subclasses.fake_tensor.DynamicOutputShapeException",
        "docs/source/torch.compiler_fake_tensor.md",
    ),
    DocumentedRefusal(
        "data-dependent",
        "torch._dynamo.exc.UserError",
        "torch/export/_trace.py turns GuardOnDataDependentSymNode into UserError",
        pattern=r"data-dependent|torch\._check",
    ),
    DocumentedRefusal(
        "constraint-violation",
        "torch._dynamo.exc.UserError",
        "torch/export/dynamic_shapes.py, Dim: 'Named Dims ... exceptions are raised if the compiler infers "
        "constraints that do not match the user specification'",
        pattern=r"^Constraints violated|^Expected shape\[\d+\] = .* to be\s+of the form|not in range \[",
    ),
    DocumentedRefusal(
        "user-error",
        "torch._dynamo.exc.UserError",
        "torch/_dynamo/exc.py: 'Error raised to the user because of what they wrote'",
    ),
    DocumentedRefusal(
        "constraint-violation",
        "torch.fx.experimental.symbolic_shapes.ConstraintViolationError",
        "docs/source/export.md, 'Expressing Dynamism'",
    ),
    DocumentedRefusal(
        "constraint-violation",
        "ValueError",
        "torch/export/dynamic_shapes.py, Dim: 'DYNAMIC means dynamic, will error out if specialized'",
        pattern=r"^Found the following conflicts between user-specified ranges and inferred ranges",
    ),
    DocumentedRefusal(
        "size-as-flag",
        "TypeError",
        "github.com/pytorch/pytorch/issues/154038: 'we don't accept SymBool as acceptable schema type', "
        "closed with the advice to export twice, once for True and once for False",
        pattern=r"argument '\w+' (\(position \d+\) )?must be bool, not SymBool"
        r"|received an invalid combination of arguments - got \(.*\bSymBool\b",
    ),
    DocumentedRefusal(
        "size-as-key",
        "TypeError",
        "torch/__init__.py, SymInt.__hash__: a dynamic size cannot be hashed",
        pattern=r"^unhashable type: non-nested SymInt",
    ),
    DocumentedRefusal(
        "control-flow-op",
        "torch._dynamo.exc.UncapturedHigherOrderOpError",
        "docs/source/cond.md. Not what export's own hooks do in a branch, to preserve call signatures",
        r"(?s)\A(?!.*/torch/_export/wrappers\.py)",
    ),
    DocumentedRefusal(
        "no-fake-implementation",
        "torch._subclasses.fake_tensor.UnsupportedOperatorException",
        "docs/source/export.md, 'Missing Fake/Meta Kernels for Operators'",
    ),
    DocumentedRefusal(
        "no-fake-implementation",
        "RuntimeError",
        "docs/source/export.md, 'Missing Fake/Meta Kernels for Operators'",
        pattern=r"no fake impl registered",
    ),
    DocumentedRefusal(
        "no-fake-implementation",
        "RuntimeError",
        "docs/source/export.md, 'Missing Fake/Meta Kernels for Operators'; torch/_subclasses/fake_tensor.py, "
        "run_fallback_kernel: tries the operator on zeros, and does not take a sparse result",
        pattern=r"^Unable to cast NotImplemented to Tensor\s+While executing %to_sparse_(cs|bs)[rc]\b",
        stage="lower",
    ),
    DocumentedRefusal(
        "class-of-fake-tensor",
        "RuntimeError",
        "github.com/pytorch/pytorch/issues/95496: 'this is a known problem with no easy fix'",
        pattern=r"is already associated to a python object of type FakeTensor",
        of_model=True,
    ),
    DocumentedRefusal(
        "tensor-to-numpy",
        "RuntimeError",
        "docs/source/torch.compiler_fake_tensor.md: a fake tensor has no data",
        pattern=r"\.numpy\(\) is not supported for tensor subclasses|"
        r"Cannot access data pointer of Tensor|\.tolist\(\) is not supported for tensor subclasses",
        of_model=True,
    ),
    DocumentedRefusal(
        "input-metadata-mutation",
        "RuntimeError",
        "torch/_functorch/aot_autograd.py: 'currently banned in the aot_export workflow'",
        pattern=r"currently banned in the aot_export workflow",
    ),
    DocumentedRefusal(
        "no-hooks-of-scripted-modules",
        "RuntimeError",
        "torch/jit/_script.py, _make_fail: 'is not supported on ScriptModules', for all methods that they do "
        "not have; torch/_export/wrappers.py, _wrap_submodule, preserves calls by hooks",
        pattern=r"^register_forward_(pre_)?hook is not supported on ScriptModules",
    ),
    DocumentedRefusal(
        "input-type",
        "ValueError",
        "torch/_export/non_strict_utils.py: 'Export only supports pytree containers of basic types'",
        pattern=r"^Unsupported input type ",
    ),
    DocumentedRefusal(
        "input-type",
        "AssertionError",
        "torch/export/graph_signature.py, _make_argument_spec, in strict mode; non-strict mode says at once: "
        "'Export only supports pytree containers of basic types'",
        pattern=r"^Encountered an unsupported object of type <class 'torch\.(dtype|device|layout)'>",
    ),
    DocumentedRefusal(
        "input-type",
        "ValueError",
        "torch/_export/non_strict_utils.py: fake inputs of a mode without a shape environment",
        pattern=r"^Detected fake_mode does not have a shape_env",
    ),
    DocumentedRefusal(
        "input-type",
        "ValueError",
        "torch/utils/_pytree.py, register_pytree_node: flatten_with_keys_fn is what export names inputs by",
        pattern=r"^Did not find a flatten_with_keys_fn for type",
    ),
    DocumentedRefusal(
        "output-type",
        "RuntimeError",
        "torch/_functorch/_aot_autograd/utils.py, create_tree_flattened_fn: outputs are of KNOWN_TYPES",
        pattern=r"^Found <class '.*'> in output, which is not a known type",
    ),
    DocumentedRefusal(
        "output-type",
        "AssertionError",
        "torch/_dynamo/output_graph.py, OutputGraph.compile_subgraph: strict export of the same outputs",
        pattern=r"^Encountered unrecognized type UserDefined\w+\(.*\) at output \d+$",
    ),
    DocumentedRefusal(
        "scripted-module",
        "ValueError",
        "torch/export/__init__.py: 'Exporting a ScriptModule is not supported'",
        pattern=r"^Exporting a ScriptModule is not supported",
    ),
    DocumentedRefusal(
        "attribute-assignment",
        "ValueError",
        "torch/_export/non_strict_utils.py up to 2.9: register tensor attributes as buffers",
        pattern=r"assigned during export\. Such attributes must be registered as buffers",
    ),
    DocumentedRefusal(
        "grad-mode-change",
        "RuntimeError",
        "torch/_export/_safeguard.py: 'Encountered autograd state manager op'",
        pattern=r"^Encountered autograd state manager op",
    ),
    DocumentedRefusal(
        "preserved-call",
        "AssertionError",
        "torch/_export/wrappers.py, check_flattened: 'Only Tensors or scalars are supported', of arguments "
        "and results of submodules whose signatures are preserved. A size is a scalar for the author of the "
        "model, so one that is dynamic is a finding",
        pattern=r"^Only Tensors or scalars are supported as pytree flattened inputs, got: (?!\S*\bs\d+\b)",
    ),
    DocumentedRefusal(
        "subclass-signature",
        "ValueError",
        "torch/export/exported_program.py: subclass parameters of preserved submodules",
        pattern=r"Preserving submodule that takes subclass parameter is not supported",
    ),
)
"""The first entry that covers an exception gives it its name."""
