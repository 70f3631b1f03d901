"""The situations: a table. A new one is one decorated function here.

A situation looks at the facts of the model so far, and returns what it adds to the program: definitions, and
one statement of ``make()`` that changes ``model``, ``args`` or ``kwargs``; or None, where it means nothing.
``pick`` chooses among possibilities, always with the numbers that were drawn for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.around.facts import Argument, Facts, Tensor

T = TypeVar("T")


class Pick:
    """Chooses by numbers that were drawn."""

    def __init__(self, numbers: Sequence[int]) -> None:
        """Use these numbers, one for each choice, and 0 after them."""
        self._numbers = list(numbers)

    def __call__(self, options: Sequence[T]) -> T:
        """Return one of the options; the first for 0. There must be one."""
        number = self._numbers.pop(0) if self._numbers else 0
        return options[number % len(options)]


@dataclass(frozen=True)
class Piece:
    """What a situation adds to a program."""

    statement: str
    """A statement of ``make()``; NAME stands for the class."""
    definition: str = ""
    """A class called NAME, or nothing."""


Build = Callable[[Facts, Pick], Piece | None]


@dataclass(frozen=True)
class Situation:
    """One entry of the table."""

    name: str
    meaning: str
    """What is done with the model, for people."""
    build: Build


SITUATIONS: dict[str, Situation] = {}


def situation(build: Build) -> Build:
    """Add a function to the table, under its name and with its docstring."""
    name = build.__name__.replace("_", "-")
    SITUATIONS[name] = Situation(name, (build.__doc__ or "").strip().rstrip("."), build)
    return build


# --- a parent that calls the model ---


def parent(facts: Facts, body: str, init: str = "self.model = model", *, more: str = "") -> Piece:
    """Return a parent module with this body of ``forward``; CALL in it stands for the arguments.

    ``more``: a further parameter, which a caller gives as True.
    """
    lines = [
        "class NAME(nn.Module):",
        "    def __init__(self, model):",
        "        super().__init__()",
        *(f"        {line}" for line in init.splitlines()),
        "",
        f"    def forward(self{facts.signature}{more and f', {more}'}):",
        *(f"        {line}" for line in body.replace("CALL", facts.call).splitlines()),
    ]
    statement = "model = NAME(model)"
    if more:
        statement = f'model, kwargs = NAME(model), {{**kwargs, "{more}": True}}'
    return Piece(statement, "\n".join(lines))


@situation
def called_twice(facts: Facts, pick: Pick) -> Piece:
    """Called twice by a parent."""
    return parent(facts, "return self.model(CALL), self.model(CALL)")


@situation
def other_flag(facts: Facts, pick: Pick) -> Piece | None:
    """Called twice, with another flag at the second time."""
    if not facts.flags:
        return None
    name, default = pick(facts.flags)
    return parent(facts, f"return self.model(CALL), self.model({_and(facts.call, f'{name}={not default}')})")


@situation
def other_sizes(facts: Facts, pick: Pick) -> Piece | None:
    """Called twice, with a part of the batch at the second time."""
    batches = [each for each in facts.tensors if each.tensor and each.tensor.shape]
    sizes = {each.tensor.shape[0] for each in batches if each.tensor}
    if len(sizes) != 1 or sizes == {0} or sizes == {1}:
        return None
    part = pick(("[:1]", "[1:]"))
    second = facts.call_with({each.name: f"{each.name}{part}" for each in batches})
    return parent(facts, f"return self.model(CALL), self.model({second})")


@situation
def other_inputs(facts: Facts, pick: Pick) -> Piece | None:
    """Called twice, with other values of an input at the second time."""
    given = [each for each in facts.tensors if each.tensor and each.tensor.floating]
    if not given:
        return None
    name = pick(given).name
    second = facts.call_with({name: pick((f"{name} + 1", f"{name}.neg()", f"{name}.clone()"))})
    return parent(facts, f"return self.model(CALL), self.model({second})")


@situation
def two_names(facts: Facts, pick: Pick) -> Piece:
    """Shared under two names, and called under both."""
    init = "self.first = model\nself.second = model"
    body = pick(("return self.first(CALL), self.second(CALL)", "return self.second(CALL), self.first(CALL)"))
    return parent(facts, body, init)


@situation
def in_a_module_list(facts: Facts, pick: Pick) -> Piece:
    """Twice in a ModuleList over which the parent loops."""
    return parent(
        facts, "return [model(CALL) for model in self.models]", "self.models = nn.ModuleList([model, model])"
    )


@situation
def in_a_plain_list(facts: Facts, pick: Pick) -> Piece:
    """In a plain list, and registered under a name too."""
    return parent(facts, "return self.models[0](CALL)", "self.models = [model]\nself.model = model")


@situation
def copied(facts: Facts, pick: Pick) -> Piece:
    """Beside a shallow or a deep copy of itself."""
    init = f"self.model = model\nself.other = copy.{pick(('copy', 'deepcopy'))}(model)"
    return parent(facts, "return self.model(CALL), self.other(CALL)", init)


@situation
def tied_to_a_copy(facts: Facts, pick: Pick) -> Piece | None:
    """Beside a copy with which it shares one parameter."""
    if not facts.parameters:
        return None
    owner, _, name = pick(facts.parameters).text.rpartition(".")
    init = (
        "self.model = model\nself.other = copy.deepcopy(model)\n"
        f"{_module('self.other', owner)}.{name} = {_module('model', owner)}.{name}"
    )
    return parent(facts, "return self.model(CALL), self.other(CALL)", init)


@situation
def in_a_loop(facts: Facts, pick: Pick) -> Piece | None:
    """Called in a loop, with its output as the next input."""
    pairs = [(out, given) for out, given in _pairs(facts) if given.tensor and out.like(given.tensor)]
    if not pairs:
        return None
    out, given = pick(pairs)
    return parent(
        facts, f"for _ in range(3):\n    {given.name} = self.model(CALL){out.text}\nreturn {given.name}"
    )


@situation
def residual(facts: Facts, pick: Pick) -> Piece | None:
    """Added to its input, out of place or in place."""
    pairs = [(out, given) for out, given in _pairs(facts) if given.tensor and out.like(given.tensor)]
    if not pairs:
        return None
    out, given = pick(pairs)
    body = pick(
        (
            f"return {given.name} + self.model(CALL){out.text}",
            f"return {given.name}.add_(self.model(CALL){out.text})",
        )
    )
    return parent(facts, body)


@situation
def keeps_output(facts: Facts, pick: Pick) -> Piece | None:
    """In a parent that keeps its output in a buffer, and changes what it has kept."""
    outputs = [out for out in facts.outputs if out.floating]
    if not outputs:
        return None
    out = pick(outputs)
    init = f'self.model = model\nself.register_buffer("kept", torch.zeros({out.shape}, dtype={out.dtype}))'
    write = pick(("self.kept.copy_(OUT)", "self.kept.add_(OUT)", "self.kept = self.kept + OUT"))
    end = pick(("return out, self.kept", "self.kept.mul_(0.5)\nreturn out", "return out, self.kept.view(-1)"))
    return parent(facts, f"out = self.model(CALL)\n{write.replace('OUT', f'out{out.text}')}\n{end}", init)


@situation
def keeps_output_itself(facts: Facts, pick: Pick) -> Piece | None:
    """In a parent that makes the output its buffer, and returns both."""
    if not facts.outputs:
        return None
    out = pick(facts.outputs)
    init = f'self.model = model\nself.register_buffer("kept", torch.zeros({out.shape}, dtype={out.dtype}))'
    body = f"before = self.kept\nself.kept = self.model(CALL){out.text}.detach()\nreturn before, self.kept"
    return parent(facts, body, init)


@situation
def mutates_output(facts: Facts, pick: Pick) -> Piece | None:
    """In a parent that changes an output in place."""
    outputs = [out for out in facts.outputs if out.floating]
    if not outputs:
        return None
    out = pick(outputs)
    change = pick(
        (".add_(1)", ".mul_(0.5)", ".zero_()", ".t_()" if len(out.shape) == 2 else ".unsqueeze_(0)")
    )
    return parent(facts, f"out = self.model(CALL)\nout{out.text}{change}\nreturn out")


@situation
def mutates_input(facts: Facts, pick: Pick) -> Piece | None:
    """In a parent that changes an input in place, before the call or after it."""
    given = [each for each in facts.tensors if each.tensor and each.tensor.floating]
    if not given:
        return None
    change = f"{pick(given).name}{pick(('.add_(1)', '.mul_(0.5)', '[:1].zero_()'))}"
    body = pick((f"{change}\nreturn self.model(CALL)", f"out = self.model(CALL)\n{change}\nreturn out"))
    return parent(facts, body)


@situation
def mutates_parameter(facts: Facts, pick: Pick) -> Piece | None:
    """In a parent that changes a parameter between two calls."""
    if not facts.parameters:
        return None
    owner, _, name = pick(facts.parameters).text.rpartition(".")
    body = (
        "first = self.model(CALL)\nwith torch.no_grad():\n"
        f"    {_module('self.model', owner)}.{name}.mul_(0.5)\nreturn first, self.model(CALL)"
    )
    return parent(facts, body)


@situation
def on_a_flag(facts: Facts, pick: Pick) -> Piece | None:
    """In a parent that calls it differently on a flag."""
    if any(each.name == "flag" for each in facts.arguments):
        return None
    body = pick(
        (
            "if flag:\n    return self.model(CALL), self.model(CALL)\nreturn self.model(CALL)",
            "out = self.model(CALL)\nreturn out if flag else (out, out)",
        )
    )
    return parent(facts, body, more="flag")


@situation
def in_no_grad(facts: Facts, pick: Pick) -> Piece:
    """Called with gradients disabled, all of it or the first of two calls."""
    body = pick(
        (
            "with torch.no_grad():\n    return self.model(CALL)",
            "with torch.no_grad():\n    first = self.model(CALL)\nreturn first, self.model(CALL)",
        )
    )
    return parent(facts, body)


@situation
def in_autocast(facts: Facts, pick: Pick) -> Piece | None:
    """Called in an autocast region."""
    # Where export runs other operators, nothing tells rounding to bfloat16 from a wrong value.
    if facts.foreign:
        return None
    return parent(
        facts, 'with torch.autocast("cpu", dtype=torch.bfloat16):\n    out = self.model(CALL)\nreturn out'
    )


@situation
def in_checkpoint(facts: Facts, pick: Pick) -> Piece:
    """Called through torch.utils.checkpoint."""
    call = _and("self.model", facts.call)
    return parent(facts, f"return torch.utils.checkpoint.checkpoint({call}, use_reentrant=False)")


# --- the model itself ---


@situation
def train_mode(facts: Facts, pick: Pick) -> Piece:
    """In train mode."""
    return Piece("model.train()")


@situation
def frozen(facts: Facts, pick: Pick) -> Piece | None:
    """With frozen parameters: all of them, or one."""
    if not facts.parameters:
        return None
    one = f'model.get_parameter("{pick(facts.parameters).text}").requires_grad_(False)'
    return Piece(pick((one, "model.requires_grad_(False)")))


@situation
def tied(facts: Facts, pick: Pick) -> Piece | None:
    """With two parameters tied."""
    pairs = [
        (one, other)
        for number, one in enumerate(facts.parameters)
        for other in facts.parameters[number + 1 :]
        if one.like(other)
    ]
    if not pairs:
        return None
    one, other = pick(pairs)
    return Piece(f"{_attribute(other)} = {_attribute(one)}")


@situation
def flat_parameters(facts: Facts, pick: Pick) -> Piece | None:
    """With two parameters that are views of one flat tensor."""
    pairs = [
        (one, other)
        for one, other in zip(facts.parameters, facts.parameters[1:], strict=False)
        if one.dtype == other.dtype
    ]
    if not pairs:
        return None
    one, other = (f'model.get_parameter("{each.text}")' for each in pick(pairs))
    definition = (
        "def NAME(one, other):\n"
        "    flat = torch.cat([one.data.flatten(), other.data.flatten()])\n"
        "    one.data, other.data = flat[: one.numel()].view_as(one), flat[one.numel() :].view_as(other)"
    )
    return Piece(f"NAME({one}, {other})", definition)


@situation
def parameter_is_a_view(facts: Facts, pick: Pick) -> Piece | None:
    """With a parameter that is a part of a larger tensor, or transposed."""
    if not facts.parameters:
        return None
    chosen = pick(facts.parameters)
    text = f'model.get_parameter("{chosen.text}")'
    forms = [f"{text}.data = torch.stack([{text}.data, {text}.data])[1]"]
    forms += [f"{text}.data = {text}.data.mT.contiguous().mT"] * (len(chosen.shape) > 1)
    return Piece(pick(forms))


@situation
def weight_norm(facts: Facts, pick: Pick) -> Piece | None:
    """With a re-parametrized weight."""
    owners = [each.text[: -len(".weight")] for each in facts.parameters if each.text.endswith(".weight")]
    owners += [""] * any(each.text == "weight" for each in facts.parameters)
    if not owners:
        return None
    return Piece(f"nn.utils.parametrizations.weight_norm({_module('model', pick(owners))})")


@situation
def hooked(facts: Facts, pick: Pick) -> Piece | None:
    """With a forward hook on a submodule that changes its output."""
    if not facts.modules:
        return None
    definition = "def NAME(module, args, out):\n    return out * 2 if isinstance(out, torch.Tensor) else out"
    return Piece(f"{_module('model', pick(facts.modules))}.register_forward_hook(NAME)", definition)


# --- its inputs ---


@situation
def expanded_input(facts: Facts, pick: Pick) -> Piece | None:
    """With an input whose batch is expanded from one row."""
    given = [each for each in facts.tensors if each.tensor and each.tensor.shape[:1] > (1,)]
    return _given(pick(given), "X[:1].expand_as(X)") if given else None


@situation
def non_contiguous_input(facts: Facts, pick: Pick) -> Piece | None:
    """With an input that is not contiguous."""
    given = [each for each in facts.tensors if each.tensor and each.tensor.shape]
    if not given:
        return None
    chosen = pick(given)
    forms = ["torch.stack([X, X], -1)[..., 0]", "torch.cat([X, X])[X.shape[0] :]"]
    if chosen.tensor and len(chosen.tensor.shape) > 1:
        forms.append("X.transpose(0, -1).contiguous().transpose(0, -1)")
    if chosen.tensor and len(chosen.tensor.shape) == 4:
        forms.append("X.contiguous(memory_format=torch.channels_last)")
    return _given(chosen, pick(forms))


@situation
def input_with_gradient(facts: Facts, pick: Pick) -> Piece | None:
    """With an input that requires grad, as a leaf or not."""
    given = [each for each in facts.tensors if each.tensor and each.tensor.floating]
    if not given:
        return None
    chosen = pick(given)
    return _given(chosen, pick(("X.clone().requires_grad_()", "X.clone().requires_grad_() * 1")))


@situation
def aliased_inputs(facts: Facts, pick: Pick) -> Piece | None:
    """With two inputs that are one tensor, or views of one."""
    pairs = [
        (one, other)
        for number, one in enumerate(facts.tensors)
        for other in facts.tensors[number + 1 :]
        if one.tensor and other.tensor and one.tensor.like(other.tensor)
    ]
    if not pairs:
        return None
    one, other = pick(pairs)
    return _given(other, pick((one.place, f"{one.place}.view_as({one.place})")))


def _given(argument: Argument, text: str) -> Piece:
    """Return the statement that gives another value for an argument; X stands for the old one."""
    value = text.replace("X", argument.place)
    if argument.keyword:
        return Piece(f'kwargs = {{**kwargs, "{argument.name}": {value}}}')
    number = int(argument.place[len("args[") : -1])
    before = "".join(f"args[{place}], " for place in range(number))
    return Piece(f"args = ({before}{value}, *args[{number + 1} :])")


def _pairs(facts: Facts) -> list[tuple[Tensor, Argument]]:
    return [(out, given) for out in facts.outputs for given in facts.tensors if out.floating]


def _module(root: str, name: str) -> str:
    return f'{root}.get_submodule("{name}")' if name else root


def _attribute(parameter: Tensor) -> str:
    owner, _, name = parameter.text.rpartition(".")
    return f"{_module('model', owner)}.{name}"


def _and(one: str, other: str) -> str:
    return f"{one}, {other}" if one and other else one or other
