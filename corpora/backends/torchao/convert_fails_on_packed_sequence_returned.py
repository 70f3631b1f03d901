# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "torchao==0.18.0"]
#
# [tool.exportdiff]
# title = "torchao: convert_pt2e raises AttributeError for a model that returns a PackedSequence"
# id = "XT003"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "an encoder for an LSTM that returns packed rows"
# topics = ["containers", "recurrent", "quantization"]
# cause = """
# `ConstantFolder` puts an empty object in the place of each value that it does not know. `Interpreter.run`
# puts these objects into the containers that the model returns, and a PackedSequence asks them for their
# device. It should run without the processing of inputs and outputs."""
# path = "torchao:unquantized@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "AttributeError", "_pytree.py:_namedtuple_unflatten", "rnn.py:__new__",
#         "rnn.py:_packed_sequence_init_args",
#     ],
# ]
# trigger = ["idiom.packed"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torchao/quantization/pt2e/constant_fold.py, ConstantFolder.run: processes the outputs"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""`convert_pt2e` fails if a model returns a PackedSequence: "'object' object has no attribute 'device'".

`ConstantFolder` puts an empty object in the place of each value that it does not know. `Interpreter.run`
puts these objects into the containers that the model returns, and a PackedSequence asks them for their
device. It should run without the processing of inputs and outputs.
"""

import sys

import torch
from torch.nn.utils.rnn import pack_padded_sequence


class Model(torch.nn.Module):
    def forward(self, x):
        return pack_padded_sequence(x, [2, 1], batch_first=True)


def make():
    return Model(), (torch.ones(2, 2, 3),)


def show():
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import X86InductorQuantizer

    prepared = prepare_pt2e(torch.export.export(*make()).module(), X86InductorQuantizer())
    convert_pt2e(prepared)


def make_workaround():
    """Return the parts of the PackedSequence in a tuple."""

    class Unpacked(torch.nn.Module):
        def forward(self, x):
            return tuple(pack_padded_sequence(x, [2, 1], batch_first=True))

    return Unpacked(), (torch.ones(2, 2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        if "'device'" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, convert_pt2e raises {error!r:.100}")
    print("ok: neither eager nor convert_pt2e raises")
