"""Situations in which a parent module calls the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exportdiff.fuzzing.around.facts import module_at
from exportdiff.fuzzing.around.situations.table import Piece, situation, situation_with, with_one_of

if TYPE_CHECKING:
    from exportdiff.fuzzing.around.facts import Argument, Facts, TensorArgument, TensorFacts
    from exportdiff.fuzzing.around.situations.table import Pick


def _parent(facts: Facts, body: str, init: str = "self.model = model", *, more: str = "") -> Piece:
    """Return a parent module with this body of ``forward``; CALL in it stands for the arguments.

    ``more``: the name of a further parameter. The parent is called with True for it.
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


def _with_buffer(out: TensorFacts) -> str:
    """Return the ``__init__`` of a parent that has a buffer like an output."""
    return f'self.model = model\nself.register_buffer("kept", torch.zeros({out.shape}, dtype={out.dtype}))'


@situation
def called_twice(facts: Facts, pick: Pick) -> Piece:
    """Called twice by a parent."""
    return _parent(facts, "return self.model(CALL), self.model(CALL)")


@situation
@with_one_of(lambda facts: facts.flags)
def other_flag(facts: Facts, pick: Pick, flag: tuple[str, bool]) -> Piece:
    """Called twice, with another flag at the second time."""
    name, default = flag
    return _parent(
        facts, f"return self.model(CALL), self.model({_joined(facts.call, f'{name}={not default}')})"
    )


@situation
def other_sizes(facts: Facts, pick: Pick) -> Piece | None:
    """Called twice, with a part of the batch at the second time."""
    batches = [each for each in facts.tensors if each.tensor.shape]
    sizes = {each.tensor.shape[0] for each in batches}
    if len(sizes) != 1 or sizes == {0} or sizes == {1}:
        return None
    part = pick(("[:1]", "[1:]"))
    second = facts.call_with({each.name: f"{each.name}{part}" for each in batches})
    return _parent(facts, f"return self.model(CALL), self.model({second})")


@situation
@with_one_of(lambda facts: facts.floating)
def other_inputs(facts: Facts, pick: Pick, given: TensorArgument) -> Piece:
    """Called twice, with other values of an input at the second time."""
    name = given.name
    second = facts.call_with({name: pick((f"{name} + 1", f"{name}.neg()", f"{name}.clone()"))})
    return _parent(facts, f"return self.model(CALL), self.model({second})")


@situation
def two_names(facts: Facts, pick: Pick) -> Piece:
    """Shared under two names, and called under both."""
    init = "self.first = model\nself.second = model"
    body = pick(("return self.first(CALL), self.second(CALL)", "return self.second(CALL), self.first(CALL)"))
    return _parent(facts, body, init)


@situation
def in_a_module_list(facts: Facts, pick: Pick) -> Piece:
    """Twice in a ModuleList over which the parent loops."""
    return _parent(
        facts, "return [model(CALL) for model in self.models]", "self.models = nn.ModuleList([model, model])"
    )


@situation
def in_a_plain_list(facts: Facts, pick: Pick) -> Piece:
    """In a plain list, and registered under a name too."""
    return _parent(facts, "return self.models[0](CALL)", "self.models = [model]\nself.model = model")


@situation
def copied(facts: Facts, pick: Pick) -> Piece:
    """Beside a shallow or a deep copy of itself."""
    init = f"self.model = model\nself.other = copy.{pick(('copy', 'deepcopy'))}(model)"
    return _parent(facts, "return self.model(CALL), self.other(CALL)", init)


@situation
@with_one_of(lambda facts: facts.parameters)
def tied_to_a_copy(facts: Facts, pick: Pick, parameter: TensorFacts) -> Piece:
    """Beside a copy with which it shares one parameter."""
    owner, _, name = parameter.text.rpartition(".")
    init = (
        "self.model = model\nself.other = copy.deepcopy(model)\n"
        f"{module_at('self.other', owner)}.{name} = {module_at('model', owner)}.{name}"
    )
    return _parent(facts, "return self.model(CALL), self.other(CALL)", init)


def _fitting(facts: Facts) -> list[tuple[TensorFacts, TensorArgument]]:
    """Return the outputs that can replace an input, each with that input."""
    outputs = [out for out in facts.outputs if out.floating]
    return [(out, given) for out in outputs for given in facts.tensors if out.like(given.tensor)]


@situation
@with_one_of(_fitting)
def in_a_loop(facts: Facts, pick: Pick, pair: tuple[TensorFacts, Argument]) -> Piece:
    """Called in a loop, with its output as the next input."""
    out, given = pair
    return _parent(
        facts, f"for _ in range(3):\n    {given.name} = self.model(CALL){out.text}\nreturn {given.name}"
    )


@situation
@with_one_of(_fitting)
def residual(facts: Facts, pick: Pick, pair: tuple[TensorFacts, Argument]) -> Piece:
    """Added to its input, out of place or in place."""
    out, given = pair
    body = pick(
        (
            f"return {given.name} + self.model(CALL){out.text}",
            f"return {given.name}.add_(self.model(CALL){out.text})",
        )
    )
    return _parent(facts, body)


@situation
@with_one_of(lambda facts: facts.floating_outputs)
def keeps_output(facts: Facts, pick: Pick, out: TensorFacts) -> Piece:
    """In a parent that keeps its output in a buffer, and changes what it has kept."""
    write = pick(("self.kept.copy_(OUT)", "self.kept.add_(OUT)", "self.kept = self.kept + OUT"))
    end = pick(("return out, self.kept", "self.kept.mul_(0.5)\nreturn out", "return out, self.kept.view(-1)"))
    body = f"out = self.model(CALL)\n{write.replace('OUT', f'out{out.text}')}\n{end}"
    return _parent(facts, body, _with_buffer(out))


@situation
@with_one_of(lambda facts: facts.outputs)
def keeps_output_itself(facts: Facts, pick: Pick, out: TensorFacts) -> Piece:
    """In a parent that makes the output its buffer, and returns both."""
    body = f"before = self.kept\nself.kept = self.model(CALL){out.text}.detach()\nreturn before, self.kept"
    return _parent(facts, body, _with_buffer(out))


@situation
@with_one_of(lambda facts: facts.floating_outputs)
def mutates_output(facts: Facts, pick: Pick, out: TensorFacts) -> Piece:
    """In a parent that changes an output in place."""
    change = pick(
        (".add_(1)", ".mul_(0.5)", ".zero_()", ".t_()" if len(out.shape) == 2 else ".unsqueeze_(0)")
    )
    return _parent(facts, f"out = self.model(CALL)\nout{out.text}{change}\nreturn out")


@situation
@with_one_of(lambda facts: facts.floating)
def mutates_input(facts: Facts, pick: Pick, given: TensorArgument) -> Piece:
    """In a parent that changes an input in place, before the call or after it."""
    change = f"{given.name}{pick(('.add_(1)', '.mul_(0.5)', '[:1].zero_()'))}"
    return _parent(
        facts, pick((f"{change}\nreturn self.model(CALL)", f"out = self.model(CALL)\n{change}\nreturn out"))
    )


@situation
@with_one_of(lambda facts: facts.parameters)
def mutates_parameter(facts: Facts, pick: Pick, parameter: TensorFacts) -> Piece:
    """In a parent that changes a parameter between two calls."""
    owner, _, name = parameter.text.rpartition(".")
    body = (
        "first = self.model(CALL)\nwith torch.no_grad():\n"
        f"    {module_at('self.model', owner)}.{name}.mul_(0.5)\nreturn first, self.model(CALL)"
    )
    return _parent(facts, body)


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
    return _parent(facts, body, more="flag")


@situation
def in_no_grad(facts: Facts, pick: Pick) -> Piece:
    """Called with gradients disabled, all of it or the first of two calls."""
    body = pick(
        (
            "with torch.no_grad():\n    return self.model(CALL)",
            "with torch.no_grad():\n    first = self.model(CALL)\nreturn first, self.model(CALL)",
        )
    )
    return _parent(facts, body)


@situation_with("region.autocast")
def in_autocast(facts: Facts, pick: Pick) -> Piece | None:
    """Called in an autocast region."""
    # Where export runs other operators than eager, bfloat16 rounds differently, which is no bug.
    if facts.foreign:
        return None
    return _parent(
        facts, 'with torch.autocast("cpu", dtype=torch.bfloat16):\n    out = self.model(CALL)\nreturn out'
    )


@situation_with("region.checkpoint")
def in_checkpoint(facts: Facts, pick: Pick) -> Piece:
    """Called through torch.utils.checkpoint."""
    call = _joined("self.model", facts.call)
    return _parent(facts, f"return torch.utils.checkpoint.checkpoint({call}, use_reentrant=False)")


def _joined(one: str, other: str) -> str:
    return f"{one}, {other}" if one and other else one or other
