"""Ways in which a model is not judged: files with a factory ``make``, each with its name.

HEAD stands before each of them; ``nn.Linear(2, 2)`` and ``torch.ones(2)`` are what works.
"""

HEAD = """\
import os, signal, sys, time
import torch
from torch import nn

class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        return self.linear(x)

X = (torch.ones(2),)

"""


def _forward(body: str) -> str:
    """Write a model with this body of ``forward``, and its factory."""
    lines = "\n        ".join(body.splitlines())
    return f"""\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.calls = 0
        self.register_buffer("kept", torch.ones(2))

    def forward(self, x):
        {lines}

def make():
    return Model(), (torch.ones(2),)
"""


def _make(body: str) -> str:
    """Write a factory with this body."""
    lines = "\n    ".join(body.splitlines())
    return f"def make():\n    {lines}\n"


MODELS: dict[str, str] = {
    # Eager does not run, or not twice alike.
    "forward raises": _forward("raise ValueError('no')"),
    "forward asserts on a value": _forward("assert x.sum() > 99\nreturn x"),
    "eager differs by time": _forward("return x + time.perf_counter()"),
    "eager differs by object": _forward("return x + id(object()) % 977 + time.perf_counter()"),
    "eager differs by process state": _forward(
        "os.environ['N'] = str(int(os.environ.get('N', 0)) + 1)\nreturn x * int(os.environ['N'])"
    ),
    "wrong shape": _forward("return self.linear(x.reshape(1))"),
    "missing attribute": _forward("return self.nothing(x)"),
    "no forward": "class Model(nn.Module): pass\ndef make():\n    return Model(), X\n",
    "forward exits": _forward("sys.exit(0)"),
    "forward ends the process": _forward("os._exit(0)"),
    "forward aborts": _forward("os.abort()"),
    "forward is killed": _forward("os.kill(os.getpid(), signal.SIGKILL)"),
    "forward terminates": _forward("os.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(60)"),
    "forward interrupts": _forward("raise KeyboardInterrupt"),
    # The factory.
    "factory raises": _make("raise KeyError('oh')"),
    "factory exits": _make("sys.exit(0)"),
    "factory ends the process": _make("os._exit(0)"),
    "factory aborts": _make("os.abort()"),
    "factory returns nothing": _make("pass"),
    "factory returns a model alone": _make("return Plain()"),
    "factory returns a tensor": _make("return torch.ones(2)"),
    "factory returns no model": _make("return 3, X"),
    "factory returns a class": _make("return Plain, X"),
    "factory returns four things": _make("return Plain(), X, {}, 4"),
    "args are a tensor": _make("return Plain(), torch.ones(2)"),
    "args are a list": _make("return Plain(), [torch.ones(2)]"),
    "kwargs are a list": _make("return Plain(), X, [1]"),
    "too few args": _make("return Plain(), ()"),
    "too many args": _make("return Plain(), (torch.ones(2), 1)"),
    "unknown kwargs": _make("return Plain(), X, {'y': 1}"),
    "factory takes an argument": "def make(n):\n    return Plain(), X\n",
    "factory is a coroutine": "async def make():\n    return Plain(), X\n",
    "factory is a generator": _make("yield Plain(), X"),
    "factory is a model": "make = Plain()\n",
    "factory is a number": "make = 3\n",
    "factory is None": "make = None\n",
    # The file.
    "import ends the process": "def make(): ...\nos._exit(0)\n",
    "import exits": "def make(): ...\nsys.exit(0)\n",
    "import raises": "def make(): ...\nraise ImportError('gone')\n",
    "name is deleted": "def make(): ...\ndel make\n",
    # Models without values to compare, or that torch.export does not take.
    "scripted": _make("return torch.jit.script(Plain()), X"),
    "traced": _make("return torch.jit.trace(Plain(), X), X"),
    "compiled": _make("return torch.compile(Plain()), X"),
    "compiled in place": _make("model = Plain()\nmodel.compile()\nreturn model, X"),
    "meta model": _make("return Plain().to('meta'), X"),
    "meta input": _make("return Plain(), (torch.ones(2, device='meta'),)"),
    "lazy": _make("return nn.LazyLinear(3), X"),
    "one model for all": "MODEL = Plain()\ndef make():\n    return MODEL, X\n",
    "one child for all": "CHILD = Plain()\ndef make():\n    return nn.Sequential(CHILD), X\n",
    "input is the state": _make("model = Plain()\nreturn model, (model.linear.bias,)"),
    # torch refuses on every path.
    "branch on a value": _forward("return x if x.sum() > 0 else -x"),
    "value as a number": _forward("return torch.ones(int(x.sum()))"),
    "values as an array": _forward("return torch.from_numpy(x.numpy() + 1)"),
    "set as input": "class Model(nn.Module):\n    def forward(self, x):\n        return 1\n"
    "def make():\n    return Model(), ({1, 2},)\n",
    # Dynamic shapes and probes.
    "dynamic shapes raise": _make("return Plain(), X") + "def dynamic_shapes():\n    raise OSError('disk')\n",
    "dynamic shapes are wrong": _make("return Plain(), X") + "dynamic_shapes = {'y': {0: 1}}\n",
    "dynamic shapes are a number": _make("return Plain(), X") + "dynamic_shapes = 3\n",
    "probes raise": _make("return Plain(), X") + "def probes():\n    raise OSError('disk')\n",
    "probes are a number": _make("return Plain(), X") + "probes = 3\n",
    "probes are tensors": _make("return Plain(), X") + "probes = [torch.ones(2)]\n",
}
