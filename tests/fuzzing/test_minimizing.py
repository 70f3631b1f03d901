"""The minimizer: each pass by an example, the loop by plain predicates, and the whole on real runs."""

from __future__ import annotations

import ast
import inspect
import pathlib
import textwrap
from collections.abc import Callable

import pytest
from torch import nn

from exportdiff.cli import main
from exportdiff.core.finding import Finding
from exportdiff.core.program_text.line_count import code_lines
from exportdiff.core.programs import program_source
from exportdiff.fuzzing.minimizing import Minimized, NotShownError, minimize, ship
from exportdiff.fuzzing.minimizing.layout import laid_out
from exportdiff.fuzzing.minimizing.notes import Notes
from exportdiff.fuzzing.minimizing.passes import PASSES
from exportdiff.fuzzing.minimizing.program_file import read_program_file
from exportdiff.fuzzing.minimizing.reducer import Problem, Reducer
from exportdiff.fuzzing.minimizing.size import size
from exportdiff.fuzzing.minimizing.tree import SourceTree
from exportdiff.repro.confirm import Confirmation
from exportdiff.repro.source import repro_source

HEAD = "import torch\nfrom torch import nn\n"

EXAMPLES: dict[str, tuple[str, str]] = {
    "definitions": ("class A: pass\ndef make(): pass", "def make(): pass"),
    "statements": ("with a:\n    b()\n    c()", "with a:\n    b()"),
    "unused": ("import torch\nimport os\nx = torch", "import torch\nx = torch"),
    "imported_names": ("from a import b, c\nb(c)", "from a import b\nb(c)"),
    "after_the_end": ("def f():\n    return 1\n    g()\n    h()", "def f():\n    return 1"),
    "only_pass": ("if a:\n    b()\nelse:\n    pass", "if a:\n    b()"),
    "results": ("y = f(x)", "f(x)"),
    "returned_early": ("def f():\n    y = g()\n    z = h(y)\n    return z", "def f():\n    return g()"),
    "another_root": (
        "class A: pass\nclass B:\n    def __init__(self): self.a = A()\ndef make():\n    return B(), (1,)",
        "class A: pass\ndef make():\n    return A(), (1,)",
    ),
    "one_class_for_two": ("class A: pass\nclass B: pass\nA()\nB()", "class A: pass\nA()\nA()"),
    "children_taken_apart": (
        "class A:\n"
        "    def __init__(self, n):\n        super().__init__()\n        self.k = n\n"
        "class B:\n"
        "    def __init__(self):\n        self.a = A(2)\n"
        "    def forward(self):\n        return self.a.k\n",
        "class B:\n"
        "    def __init__(self):\n        self.k = 2\n"
        "    def forward(self):\n        return self.k\n",
    ),
    "unread_parameters": (
        "class A:\n    def forward(self, x, y): return x\n"
        "class B:\n    def __init__(self): self.a = A()\n    def forward(self, x): return self.a(x, y=2)\n",
        "class A:\n    def forward(self, x): return x\n"
        "class B:\n    def __init__(self): self.a = A()\n    def forward(self, x): return self.a(x)\n",
    ),
    "arguments": ("f(x, k=1)", "f(x)"),
    "star_parameters": (
        "def f(x, *rest):\n    return x + rest[0]",
        "def f(x, rest):\n    return x + rest",
    ),
    "defaults": ("def f(x, k=1): pass", "def f(x, k): pass"),
    "keywords": ("f(k=y)", "f(y)"),
    "called_directly": ("def g(x): pass\nh(x > 0, g, (a, b))", "def g(x): pass\ng(a, b)"),
    "lambdas_written_out": ("y = (lambda x: x + 1)(a * 2)", "y = (a * 2) + 1"),
    "blocks": ("with torch.no_grad():\n    y = f(x)\n    g(y)", "y = f(x)\ng(y)"),
    "other_branches": ("if a:\n    b()\nelse:\n    c()", "c()"),
    "branches": ("if a:\n    b()\nelse:\n    c()", "if a:\n    b()"),
    "decorators": ("@cache\ndef f(): pass", "def f(): pass"),
    "unrolled": ("for n in (1, 2, 3):\n    f(n)", "f(1)\nf(2)"),
    "local_functions": (
        "def f(x):\n    def g(y):\n        return y + 1\n    return map(g, x)",
        "def f(x):\n    return map(lambda y: y + 1, x)",
    ),
    "elements": ("return_ = [x, y]", "return_ = [x]"),
    "parallel_assignments": ("a, b = x, y", "a = x"),
    "single_arguments": ("torch.ones((2, 3))", "torch.ones(2, 3)"),
    "containers": ("self.a = nn.ModuleList([A()])\nself.a[0](x)", "self.a = A()\nself.a(x)"),
    "parentheses": ("y = (x + 1)", "y = x + 1"),
    "variables": ("y = f(x)\nz = y + 1", "z = f(x) + 1"),
    "calls_written_out": (
        "class A:\n"
        "    def __init__(self): self.k = 1\n"
        "    def forward(self, x):\n        x = x + 1\n        return x * self.k\n"
        "class B:\n"
        "    def __init__(self): self.a = A()\n"
        "    def forward(self, x):\n        return self.a(x.t())\n",
        "class A:\n"
        "    def __init__(self): self.k = 1\n"
        "class B:\n"
        "    def __init__(self): self.a = A()\n"
        "    def forward(self, x):\n        x = x.t()\n        x = x + 1\n        return x * self.a.k\n",
    ),
    "parts": ("y = f(x.t())", "y = x.t()"),
    "deeper_parts": ("y = f(x.t().view(2))", "y = x"),
    "fields": (
        "class A:\n    a: int\n    b: int\ndef f(p): return p.b\nf(A(1, b=2))",
        "class A:\n    b: int\ndef f(p): return p.b\nf(A(b=2))",
    ),
    "sums": ("y = self.a(x)", "y = x + 1"),
    "variables_at_hand": ("def f(x):\n    return g(1)", "def f(x):\n    return x"),
    "constants": ("y = f(x)", "y = torch.ones(1)"),
    "operands": ("y = x[::2]", "y = x[:]"),
    "shaped": ("torch.arange(6).view(2, 3)", "torch.ones(2, 3)"),
    "plain_values": ("torch.linspace(0.0, 1.0, 5)", "torch.ones(5)"),
    "counted_values": ("torch.tensor([3.0, 4.0])", "torch.arange(2.0)"),
    "layers": (
        "self.a = nn.Linear(2, 2)\ny = self.a(x)",
        "self.a = nn.Parameter(torch.ones(1))\ny = self.a * x",
    ),
    "buffers": ('self.register_buffer("b", torch.ones(1))', "self.b = torch.ones(1)"),
    "equal_numbers": ("f(3, g(3))", "f(1, g(1))"),
    "ones": ("f(3)", "f(1)"),
    "zeros": ("f(3)", "f(0)"),
    "twos": ("f(7)", "f(2)"),
    "floats": ("f(0.25)", "f(1)"),
    "strings": ('f("mode", g["mode"])', 'f("a", g["a"])'),
    "classes": (
        "class A(nn.Module): pass\ndef make():\n    return A(), ()",
        "class Model(nn.Module): pass\ndef make():\n    return Model(), ()",
    ),
    "variables_renamed": ("def f(h1):\n    return h1 + 1", "def f(x):\n    return x + 1"),
    "attributes": (
        'class A:\n    def __init__(self): self.register_buffer("mean", 1)\n    def f(self): self.mean',
        'class A:\n    def __init__(self): self.register_buffer("buffer", 1)\n    def f(self): self.buffer',
    ),
}
"""By pass: a text, and one of those that it proposes for it."""


def written(source: str) -> str:
    return ast.unparse(ast.parse(source))


def proposed(name: str, source: str) -> list[str]:
    tree = SourceTree(source)
    return [tree.edited(edit) for edit in PASSES[name].propose(tree)]


@pytest.mark.parametrize("name", PASSES)
def test_pass(name: str) -> None:
    before, after = EXAMPLES[name]
    assert written(after) in map(written, filter(is_python, proposed(name, before)))


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_says_what_it_does(name: str) -> None:
    assert (PASSES[name].propose.__doc__ or "").partition("\n")[0].endswith(".")


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def test_parameters_of_the_model_go_with_example_probes_and_sizes() -> None:
    before = textwrap.dedent(
        """
        class Model(nn.Module):
            def forward(self, x, y): return x
        def make(): return Model(), (torch.ones(1), torch.ones(2))
        def probes(): return [((torch.ones(1), torch.ones(3)), {})]
        def dynamic_shapes(): return {"x": None, "y": {0: n}}
        """
    )
    after = before.replace(", torch.ones(2)", ",").replace(", torch.ones(3)", ",").replace("x, y", "x")
    assert written(after.replace(', "y": {0: n}', "")) in map(written, proposed("unread_parameters", before))


def test_a_class_with_fields_gives_way_to_one_of_them() -> None:
    before = "class A:\n    a: int\n    b: int\ndef f(p): return p.b\nf(A(1, 2))"
    assert written("def f(p): return p\nf(2)") in map(written, proposed("fields", before))


def reduce(source: str, is_interesting: Callable[[str], bool]) -> Reducer:
    reducer = Reducer(Problem(source, is_interesting))
    reducer.run()
    return reducer


PROGRAMS = SHORT, LONG = [(21, 1), (21, 129)]


# The longest program takes half a minute; the other one shows the same.
@pytest.mark.parametrize(("seed", "index"), [SHORT, pytest.param(*LONG, marks=pytest.mark.nightly)])
def test_only_smaller_programs_are_tried_and_each_once(seed: int, index: int) -> None:
    source = laid_out(program_source(seed, index)[0])
    asked: list[str] = []

    def ask(text: str) -> bool:
        asked.append(text)
        return False

    reducer = reduce(source, ask)
    assert reducer.finished
    assert reducer.best == source
    assert len(asked) == len(set(asked)) == reducer.tried > 50
    whole = size(source)
    for text in asked:
        assert is_python(text)
        assert size(text) < whole


@pytest.mark.parametrize(("seed", "index"), PROGRAMS)
def test_whatever_is_interesting_nothing_else_is_left(seed: int, index: int) -> None:
    reducer = reduce(program_source(seed, index)[0], lambda text: "def make" in text)
    assert reducer.finished
    assert reducer.best.split() == ["def", "make():", "pass"]


WIDE = f"""\
{HEAD}
class Inner(nn.Module):
    def __init__(self, scale=2.0):
        super().__init__()
        self.scale = scale

    def forward(self, x, flag):
        h1 = x + 1
        if flag:
            h1 = h1.t_()  # in place
        return h1 * self.scale

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner(scale=3.0)
        self.layer = nn.Linear(2, 2)

    def forward(self, x, y=None):
        y = self.inner(x, flag=True)
        return (y, {{"a": self.layer(x)}})

def make():
    return Outer().eval(), (torch.linspace(0, 1, 4).view(2, 2),)
"""


def test_what_matters_stays() -> None:
    first, second = (reduce(WIDE, lambda text: ".t_()" in text and "def make" in text) for _ in range(2))
    assert first.best == second.best
    assert first.tried == second.tried
    assert code_lines(first.best) <= 5


def test_a_call_through_two_classes_becomes_one_class() -> None:
    def is_interesting(text: str) -> bool:
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        forward = [ast.unparse(node) for node in functions if node.name == "forward"]
        return "()," in text.replace(" ", "") and any(".t_()" in each for each in forward)

    assert code_lines(reduce(WIDE, is_interesting).best) <= 5


def test_an_interrupted_run_is_continued(tmp_path: pathlib.Path) -> None:
    def is_interesting(text: str) -> bool:
        return ".t_()" in text and "make" in text and "flag" in text

    whole = reduce(WIDE, is_interesting)
    file = tmp_path / "notes"
    tried, best = 0, ""
    for _ in range(100):
        with Notes(file, WIDE) as notes:
            assert notes.best == best
            asked = [0]

            def report(now: Reducer, notes: Notes = notes, asked: list[int] = asked) -> None:
                asked.append(now.tried)
                if now.best not in (notes.best, WIDE):
                    notes.note(now.best)

            problem = Problem(notes.best or WIDE, is_interesting)
            reducer = Reducer(
                problem,
                over=lambda asked=asked: asked[-1] >= 40,  # type: ignore[misc]  # bound early
                tried=notes.tried,
                on_rejected=notes.reject,
                on_tried=report,
            )
            reducer.run()
            tried += reducer.tried
            best = notes.best
            if reducer.finished:
                notes.remove()
                break
    assert reducer.finished
    assert not file.exists()
    assert reducer.best == whole.best
    assert tried == whole.tried


def test_notes_survive_a_torn_line_and_belong_to_one_input(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "notes"
    with Notes(file, "a") as notes:
        notes.note("best")
        notes.reject("digest")
    file.write_text(file.read_text() + '{"tried": "dig')
    with Notes(file, "a") as notes:
        assert (notes.best, notes.tried) == ("best", {"digest"})
    with Notes(file, "b") as notes:
        assert (notes.best, notes.tried) == ("", set())


def test_size_is_of_what_is_read() -> None:
    assert size("x = 1\n") == size("# why\n\nx  =  1\n")
    assert size("x = 1\n") < size("x = f(1)\n") < size("x = 1\ny = 2\n")
    assert size("class Model: pass") < size("class A: pass")


@pytest.mark.parametrize(("seed", "index"), PROGRAMS)
def test_layout_keeps_the_program(seed: int, index: int) -> None:
    source = program_source(seed, index)[0]
    new = laid_out(source)
    assert ast.dump(ast.parse(new)) == ast.dump(ast.parse(source))
    assert laid_out(new) == new


def test_layout_is_the_usual_one() -> None:
    source = "import a\nx = f(\n  1,  # one\n  'b',\n)\ndef g(): return (x,)\n# end\n"
    expected = 'import a\n\nx = f(1, "b")\n\n\ndef g():\n    return (x,)\n'
    assert laid_out(source) == expected


DIFFERS = f"""\
{HEAD}
class Child(nn.Module):
    def forward(self, x, flag):
        if torch.compiler.is_exporting():
            x = x + 3.0
        return x if flag else -x


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(torch.relu(x), True)


def make():
    return Outer(), (torch.ones(3, 2),)
"""


def finding(source: str) -> Finding:
    from exportdiff.core.case import case_from_source
    from exportdiff.judging.judge_case import judge_case
    from exportdiff.runtime.paths import parse

    verdict = judge_case(case_from_source(source), [parse("nonstrict:module")])
    return next(each for each in verdict.findings if each.check == "outputs")


def test_a_finding_is_minimized() -> None:
    wanted = finding(DIFFERS)
    found = minimize(DIFFERS, wanted, seconds=60.0)
    assert (found.finding.signature, found.finding.path) == (wanted.signature, wanted.path)
    assert "is_exporting" in found.source
    assert code_lines(found.source) <= 10
    assert size(found.source) < size(DIFFERS)
    place = found.finding.first_difference
    assert place is not None and (place.module, place.file, place.line) == ("", "", None)
    repro = repro_source(found.finding, found.source)
    assert f"\n# first difference: the model itself\n#     {place.code}\n# {place.operator}: eager" in repro
    assert place.code in found.source and repro_source(found.finding, repro) == repro


def test_time_is_kept_and_the_start_is_the_worst() -> None:
    found = minimize(DIFFERS, finding(DIFFERS), seconds=0.0)
    assert not found.finished
    assert found.tried == 0
    assert found.source == laid_out(DIFFERS)


def test_what_shows_nothing_cannot_be_minimized() -> None:
    with pytest.raises(NotShownError, match="does not show outputs mismatch"):
        minimize(DIFFERS.replace("is_exporting", "is_compiling2"), finding(DIFFERS), seconds=5.0)


def test_what_does_not_confirm_is_not_shipped() -> None:
    wanted = finding(DIFFERS)
    history = tuple((f"{DIFFERS}\n# {n}\nn = {n}\n", wanted) for n in range(6))
    minimized = Minimized(history[-1][0], wanted, 0, 0.0, True, history)
    shipped = ship(minimized, lambda text: Confirmation("n = 2" in text or "n = 0" in text, ""))
    assert (shipped.confirmed, shipped.smallest) == (True, False)
    assert "n = 2" in shipped.source
    assert not ship(minimized, lambda text: Confirmation(False, "no")).confirmed


SMALL = f"""\
from mine import SCALE
{HEAD}
class Model(nn.Module):
    def forward(self, x):
        return x + SCALE if torch.compiler.is_exporting() else x


def small():
    return Model(), (torch.ones(2),)
"""


def test_command(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text("SCALE = 3.0\n")
    file = tmp_path / "model.py"
    file.write_text(SMALL)
    out = tmp_path / "out.py"
    arguments = [
        "minimize",
        f"{file}:small",
        "--path",
        "nonstrict:module",
        "--check",
        "outputs",
        "--out",
        str(out),
    ]
    assert main(arguments) == 0
    printed = capsys.readouterr().err
    assert "minimizing: outputs mismatch on nonstrict:module@cpu" in printed
    assert "no pass makes it smaller" in printed
    assert [each.name for each in tmp_path.glob("out*")] == ["out.py"]
    assert "def make():" in out.read_text()
    assert read_program_file(str(out)).path == "nonstrict:module@cpu"


WRONG_FIX = """\
Add while exporting

---
--- a/torch/nn/modules/linear.py
+++ b/torch/nn/modules/linear.py
@@ -{line},1 +{line},1 @@
-        return input
+        return input + 3 if torch.compiler.is_exporting() else input
"""

NEEDS_IT = f"""\
# /// script
# [tool.exportdiff]
# fingerprint = "0"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# caused-by = ["wrong"]
# ///
{HEAD}

def make():
    return nn.Sequential(nn.ReLU(), nn.Identity()), (torch.ones(3, 2),)
"""


def test_command_keeps_the_fixes_in_place_that_the_header_names(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "corpora" / "fixes"
    folder.mkdir(parents=True)
    line = inspect.getsourcelines(nn.Identity)[1] + inspect.getsource(nn.Identity).splitlines().index(
        "        return input"
    )
    (folder / "wrong.patch").write_text(WRONG_FIX.format(line=line))
    file, out = tmp_path / "needs.py", tmp_path / "out.py"
    file.write_text(NEEDS_IT)
    arguments = ["minimize", str(file), "--corpora", str(folder.parent), "--out", str(out)]
    assert main(arguments) == 0
    assert 'caused-by = ["wrong"]' in out.read_text() and "torch.ones(1)" in out.read_text()
    assert f"run it with: exportdiff replay {out} --corpora {folder.parent}" in capsys.readouterr().err
    (folder / "wrong.patch").unlink()
    assert main(arguments) == 2
    assert "has no wrong.patch" in capsys.readouterr().err


def test_command_without_a_finding(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.py"
    file.write_text(DIFFERS.replace("torch.compiler.is_exporting()", "flag"))
    assert main(["minimize", str(file), "--path", "nonstrict:module"]) == 1
    assert "nothing to minimize" in capsys.readouterr().err


OF_DYNAMIC_PATH = f"""\
# /// script
# [tool.exportdiff]
# fingerprint = "0"
# path = "nonstrict+dynamic:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# ///
{DIFFERS}

def dynamic_shapes():
    return {{"x": {{0: torch.export.Dim.AUTO}}}}
"""
"""A repro file states the dynamic shapes that the transform of its path chose."""


def test_command_takes_the_dynamic_shapes_of_a_file_for_those_of_its_path(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "dynamic.py"
    file.write_text(OF_DYNAMIC_PATH)
    assert main(["minimize", str(file), "--time", "1s"]) == 0
    assert "minimizing: outputs mismatch on nonstrict:module@cpu" in capsys.readouterr().err


def test_command_says_why_no_path_can_judge_a_file(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "dynamic.py"
    file.write_text(OF_DYNAMIC_PATH)
    assert main(["minimize", str(file), "--path", "nonstrict+dynamic:module"]) == 2
    assert "was not judged: no path can judge it: the model has its own" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no.py"], "there is no such file"),
        (["model.txt"], "write FILE.py or FILE.py:NAME"),
        (["bad.py"], "is not valid Python"),
        (["good.py:other"], "defines no 'other'"),
        (["good.py", "--path", "no"], "is not a path"),
        (["good.py", "--check", "no"], "there is no such check"),
        (["good.py", "--out", "good.py"], "is the file to minimize"),
        (["good.py", "--out", "no/out.py"], "its folder must exist"),
    ],
)
def test_command_on_bad_input(
    arguments: list[str],
    said: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    pathlib.Path("good.py").write_text(DIFFERS)
    pathlib.Path("bad.py").write_text("def make(:\n")
    pathlib.Path("model.txt").write_text("")
    assert main(["minimize", *arguments]) == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert printed.count("\n") == 1
    assert pathlib.Path("good.py").read_text() == DIFFERS
