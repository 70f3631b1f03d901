"""The statements of a repro file: templates in which expressions for this path replace the stand-ins."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import libcst as cst
from libcst import matchers as m

from exportdiff.repro.parts import Deviating
from exportdiff.repro.paste import replace_name, statements_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from exportdiff.repro.paste import Template

_HEAD = """\
if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    warnings.simplefilter("ignore")
"""


@dataclass(frozen=True)
class ScriptSetting:
    """What a script depends on, apart from the finding: the path and the program."""

    calls: Mapping[str, str]
    """The expression for each stand-in that scripts call, whatever its arguments."""
    names: Mapping[str, str]
    """For each name in upper case: its text."""
    has_kwargs: bool
    observes: tuple[str, ...] = ("out", "given", "module")
    """Which of these ``observe`` takes."""
    reseed: str = ""
    """A statement to run before each call of a model."""
    exports: bool = True
    """Whether anything is exported."""
    leaves_only: bool = False
    """Whether only the leaves of outputs are compared."""
    done_to_eager: tuple[str, ...] = ()
    """Expressions that replace the model ``eager`` one after the other, before it is called."""
    deviating: Deviating | None = None


def script(pieces: Sequence[Template], setting: ScriptSetting) -> str:
    """Return the part below ``if __name__``, from templates of statements that continue each other."""
    text = filled("\n".join(piece.body for piece in pieces), setting)
    return _HEAD + textwrap.indent(text, "    ")


def filled(text: str, setting: ScriptSetting) -> str:
    """Replace the stand-ins of a text."""
    for name, value in setting.names.items():
        text = replace_name(text, name, value)
    return cst.parse_module(text).visit(_Filled(setting)).code


_MODEL_CALL = m.Call(
    func=m.Name("eager") | m.Name("candidate"), args=[m.AtLeastN(m.Arg(star="*"), n=1), m.ZeroOrMore()]
)
_MADE_EAGER = m.SimpleStatementLine(
    [m.Assign([m.AssignTarget(m.Tuple([m.Element(m.Name("eager")), m.ZeroOrMore()]))])]
)
_EXPORTED = m.SimpleStatementLine([m.Assign([m.AssignTarget(m.Name("ep"))], m.Call(m.Name("export")))])
_KWARGS = m.Arg(m.Name("kwargs"), star="**")
_ALTERED = m.Call(m.Name("altered"))
_THINGS = ("out", "given", "module")


class _Filled(cst.CSTTransformer):
    """Replaces the stand-ins, and adds or drops statements."""

    def __init__(self, setting: ScriptSetting) -> None:
        self._setting = setting

    # --- expressions ---

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        if not self._setting.has_kwargs:
            kept = [arg for arg in updated_node.args if not m.matches(arg, _KWARGS)]
            updated_node = updated_node.with_changes(args=_without_last_comma(kept))
        if self._setting.leaves_only and m.matches(original_node, _MODEL_CALL):
            leaves = cst.parse_expression("torch.utils._pytree.tree_leaves")
            return cst.Call(leaves, [cst.Arg(updated_node)])
        if not isinstance(updated_node.func, cst.Name):
            return updated_node
        name = updated_node.func.value
        if name == "observe" and len(updated_node.args) == len(_THINGS):
            pairs = zip(_THINGS, updated_node.args, strict=True)
            kept = [arg for thing, arg in pairs if thing in self._setting.observes]
            return updated_node.with_changes(args=_without_last_comma(kept))
        if name == "inputs" and updated_node.args:  # inputs(call) is a function of the file
            return updated_node
        if name in self._setting.calls:
            return cst.parse_expression(self._setting.calls[name])
        return updated_node

    def leave_Tuple(self, original_node: cst.Tuple, updated_node: cst.Tuple) -> cst.BaseExpression:
        """Drop ``kwargs`` where there are none: ``args, kwargs`` becomes ``args``."""
        if self._setting.has_kwargs or not updated_node.elements:
            return updated_node
        *kept, last = updated_node.elements
        if not kept or not m.matches(last, m.Element(m.Name("kwargs"))):
            return updated_node
        if len(kept) > 1:
            return updated_node.with_changes(elements=_without_last_comma(kept))
        if not updated_node.lpar:
            return kept[0].value
        return updated_node.with_changes(elements=[kept[0].with_changes(comma=cst.Comma())])

    # --- statements ---

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine] | cst.RemovalSentinel:
        setting = self._setting
        if not setting.exports and m.matches(original_node, _EXPORTED):
            return cst.RemoveFromParent()
        if setting.done_to_eager and m.matches(original_node, _MADE_EAGER):
            further = [_statement(f"eager = {changed}") for changed in setting.done_to_eager]
            return cst.FlattenSentinel([updated_node, *further])
        if setting.reseed and m.findall(original_node, _MODEL_CALL):
            before = _statement(setting.reseed).with_changes(leading_lines=updated_node.leading_lines)
            return cst.FlattenSentinel([before, updated_node.with_changes(leading_lines=())])
        return updated_node

    def leave_With(
        self, original_node: cst.With, updated_node: cst.With
    ) -> cst.With | cst.FlattenSentinel[cst.BaseStatement]:
        """Make the calls in ``with altered(model):`` deviate."""
        call = original_node.items[0].item
        if not m.matches(call, _ALTERED):
            return updated_node
        deviating = self._setting.deviating or Deviating()
        if deviating.around:
            manager = cst.parse_expression(deviating.around)
            return updated_node.with_changes(items=[cst.WithItem(manager)])
        model = cst.ensure_type(cst.ensure_type(call, cst.Call).args[0].value, cst.Name).value
        if deviating.first:
            return cst.FlattenSentinel(
                _with_first(_statement(deviating.first.replace("model.", f"{model}.")), updated_node)
            )
        if deviating.attribute:
            owner, _, name = deviating.attribute.rpartition(".")
            module = f'{model}.get_submodule("{owner}")' if owner else model
            first = f"{module}.{name} = {deviating.value}"
        elif self._setting.has_kwargs:
            first = "args, kwargs = other(args, kwargs)"
        else:
            first = "args, _ = other(args, {})"
        before = _statement(first).with_changes(leading_lines=updated_node.leading_lines)
        return cst.FlattenSentinel([before, *statements_of(updated_node.body)])


def _with_first(
    first: cst.SimpleStatementLine, block: cst.With
) -> list[cst.SimpleStatementLine | cst.BaseCompoundStatement]:
    """Return the statements in a block after another one; if that one is refused, so is the call."""
    one, *others = cast("list[Any]", statements_of(block.body))
    if isinstance(one, cst.Try):
        body = one.body.with_changes(body=[first, *one.body.body])
        return [one.with_changes(body=body, leading_lines=block.leading_lines), *others]
    return [first.with_changes(leading_lines=block.leading_lines), one, *others]


def _statement(text: str) -> cst.SimpleStatementLine:
    return cast("cst.SimpleStatementLine", cst.parse_statement(text))


def _without_last_comma(items: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
    if not items:
        return []
    return [*items[:-1], items[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)]
