# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "A program that takes a member of an enumeration cannot be saved"
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "SerializeError"]]
# trigger = ["input.enum"]
# affected = "2.13.0"
# upstream = ""
# at-fault = "torch/_export/serde/serialize.py, GraphModuleSerializer.handle_placeholder: has no form for it"
# ///
"""Members of enumerations are accepted as inputs, but save raises "Failed serializing node mode".

Inputs that are None, numbers or strings are saved with their value, and script objects by name. A member of
an enumeration is neither of these. One that is a str as well is saved, as a script object, and then cannot be
loaded: "arg_name '_custom_obj_0' not in values".
"""

import enum
import io

import torch


class Mode(enum.Enum):
    ADD = 1


class Model(torch.nn.Module):
    def forward(self, x, mode):
        return x + mode.value


def make():
    return Model(), (torch.ones(1), Mode.ADD)


if __name__ == "__main__":
    program = torch.export.export(*make())
    try:
        torch.export.save(program, io.BytesIO())
        print("ok: neither export nor save raises")
    except Exception as error:
        print(f"BUG: export raises nothing, save raises {type(error).__name__}: {str(error).splitlines()[0]}")
        raise SystemExit(1) from None
