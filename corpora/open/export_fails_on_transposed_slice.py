# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD390"
# title = "torch.export: AssertionError, in some processes, for batch.transpose_() if the example is a slice"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "an input transposed in place, dynamic sizes, a slice as the example: some processes fail"
# topics = ["views", "dynamic-sizes", "in-place"]
# cause = """
# The meta function of `transpose_` compares the size of the result with the memory of the base of the input.
# So a size of the base gets into a guard. `produce_guards_verbose` looks for the sources of each symbol of
# the guard. This lookup in a defaultdict adds an empty list for a symbol without sources, and a later loop
# fails on this list. The lookup ends at the first symbol with a source, and the symbols are in a set. So it
# depends on the hash seed of the process whether export fails. The lookup should add nothing."""
# path = "nonstrict+dynamic:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "non_strict_utils.py:produce_guards_and_solve_constraints",
#         "symbolic_shapes.py:produce_guards",
#         "symbolic_shapes.py:produce_guards_verbose",
#     ],
# ]
# hash-seeds = 4
# fix = "guards_find_sources_without_adding_them"
# upstream = "https://github.com/pytorch/pytorch/pull/193059"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/193059"
# upstream-searched = "2026-11-27"
# at-fault = """
# torch/fx/experimental/symbolic_shapes.py, produce_guards_verbose: symbol_to_source[s] adds an empty list"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""The example is a slice of a batch, and the model transposes it in place. In some processes, export raises
AssertionError: "sources must not be empty for symbol"; in others, it works.

The meta function of `transpose_` compares the size of the result with the memory of the base of the input.
So a size of the base gets into a guard. `produce_guards_verbose` looks for the sources of each symbol of the
guard. This lookup in a defaultdict adds an empty list for a symbol without sources, and a later loop fails
on this list. The lookup ends at the first symbol with a source, and the symbols are in a set. So it depends
on the hash seed of the process whether export fails. The lookup should add nothing.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, batch):
        return batch.transpose_(0, 1) + 1


def make():
    return Model(), (torch.ones(6, 4)[:3],)


def dynamic_shapes():
    return {"batch": {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "sources must not be empty" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
