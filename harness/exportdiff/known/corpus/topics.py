"""The topics of entries: what people write who meet a bug. Entries name them by these words."""

from __future__ import annotations

TOPICS = {
    "random": "Dropout and random numbers",
    "moving-averages": "Moving averages and running statistics",
    "buffers": "Buffers that forward updates: counters, states",
    "kv-cache": "KV caches and other caches",
    "tied-weights": "Tied weights and shared buffers",
    "shared-modules": "A module that is called twice, or has two names",
    "hooks": "Hooks",
    "no-grad": "no_grad, inference_mode, enable_grad, detach",
    "autocast": "autocast",
    "checkpoint": "torch.utils.checkpoint",
    "autograd": "Derivatives in forward, autograd.Function",
    "vmap": "torch.vmap",
    "dynamic-sizes": "Dynamic sizes",
    "control-flow": "torch.cond, while_loop, map",
    "exceptions": "Errors that are raised or caught",
    "in-place": "In-place operators and out=",
    "views": "Views, and tensors that share memory",
    "data-attribute": ".data and set_",
    "indexing": "Boolean masks, slices and indices",
    "layout": "Strides and memory formats",
    "products": "Matrix products",
    "dtypes": "Complex numbers, float64, other dtypes",
    "arguments": "None, flags, strings, Enums, keyword arguments",
    "containers": "Lists, dicts, tuples and dataclasses",
    "constants": "Tensors in attributes, lists and globals",
    "attributes": "Python attributes that forward sets",
    "names": "Names of arguments, buffers, parameters and modules",
    "attention": "Attention and transformers",
    "recurrent": "LSTM, GRU, RNN",
    "norms": "Batch norm, weight norm, spectral norm",
    "losses": "Losses",
    "quantization": "Quantization",
    "train-eval": "train() and eval()",
    "copies": "copy.deepcopy",
    "graph-modules": "torch.fx and torch.jit",
    "custom-operators": "Custom operators",
    "unused-results": "Results that nothing uses, modules that do nothing",
}
"""The topics, each with its heading in the documentation."""


def wrong_topics(topics: object) -> str:
    """Return a message about a topic that does not exist; empty if all do."""
    words = topics if isinstance(topics, list) else [topics]
    unknown = [str(word) for word in words if word not in TOPICS]
    if unknown:
        return f"has topic {unknown[0]!r} in [tool.exportdiff]; expected {', '.join(TOPICS)}"
    return ""
