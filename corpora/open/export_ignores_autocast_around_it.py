# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD330"
# title = "torch.export under autocast: the exported program casts nothing, and returns float32"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "with torch.autocast(...) around torch.export.export, as it is around calls of the model"
# topics = ["autocast", "dtypes"]
# cause = """
# make_fx records operators before autocast casts their operands. Autocast in forward becomes a region of the
# graph; autocast around the export leaves no trace in it."""
# path = "nonstrict+under_autocast:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype", "fresh"]]
# fix = "export_records_autocast_around_it"
# upstream = "https://github.com/pytorch/pytorch/pull/159552"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# workaround = "none: enter autocast in forward, which export records"
# at-fault = """
# torch/export/_trace.py, _export: neither refuses nor records that autocast is on"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model is exported under autocast, and the exported program is called outside of it: it casts nothing.

In eager, the linear layer returns bfloat16 there. The graph of the program is that of an export without
autocast.
"""

import sys

import torch


def make():
    return torch.nn.Linear(1, 1), (torch.ones(1, 1),)


def show():
    model, args = make()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected = model(*args)
        module = torch.export.export(model, args).module()
    return expected.dtype, module(*args).dtype


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "autocast around the export" not in str(error):
            raise
        print("ok: torch refuses in words:", error)
        raise SystemExit(0) from None
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
