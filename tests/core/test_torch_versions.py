"""What differs between versions of torch: names that one lacks, and what is left out for them."""

from __future__ import annotations

import functools
import importlib
import pathlib
from typing import TYPE_CHECKING

import pytest

import exportdiff
from exportdiff.core import programs
from exportdiff.core.programs import program_source, switches_left_out, switches_needing
from exportdiff.core.torch_versions import content, has, names, torch_version
from exportdiff.interfaces.reports.text import left_out_line
from exportdiff.runtime.paths import MODES, RUNNERS, all_paths, left_out, parse, select_paths
from exportdiff.runtime.paths import catalog as paths_catalog
from exportdiff.runtime.paths.transforms import TRANSFORMS
from exportdiff_strategies.profiles import NEEDS
from support.private_names import private_names

if TYPE_CHECKING:
    from collections.abc import Iterator

HARNESS = pathlib.Path(exportdiff.__file__).parent
SOURCES = [file for file in HARNESS.rglob("*.py") if file.parent.name != "faults"]
OPTIONAL = (
    "torch._dynamo.config.run_gc_after_compile",
    "torch._dynamo.guards.profile_guard_manager",
    "torch._export.utils._materialize_cpp_cia_ops",
    "torch.compiler.is_exporting",
    "torch.compiler.set_stance",
    "torch.export.graph_signature.OutputKind.PARAMETER_MUTATION",
)
"""The names that core/torch_versions/running.py does without where torch lacks them."""

DECLARED = sorted(
    {name for table in (MODES, RUNNERS, TRANSFORMS) for each in table.values() for name in each.needs}
    | set(NEEDS.values())
)
DEVICE_PASS = "torch.export.passes.move_to_device_pass"


def exists(name: str) -> bool:
    """Whether torch has a name, found by importing it."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            owner = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        try:
            functools.reduce(getattr, parts[length:], owner)
        except AttributeError:
            return False
        return True
    return False


def test_torch_has_the_private_names_that_the_harness_uses() -> None:
    users: dict[str, list[str]] = {}
    for file in SOURCES:
        for name in private_names(file.read_text(encoding="utf-8")):
            users.setdefault(name, []).append(str(file.relative_to(HARNESS)))
    assert len(users) > 20
    lacking = {name: files for name, files in users.items() if not exists(name)}
    declared = {name for name in (*OPTIONAL, *DECLARED) if not exists(name)}
    assert {name: files for name, files in lacking.items() if name not in declared} == {}


def test_private_names_are_found() -> None:
    text = """
import torch
import torch.export._trace as trace
from torch._dynamo import guards as g
from torch.nn.modules.module import _global_hooks
from exportdiff.runtime.paths import _listed

mock.patch.object(g, "profile")
with torch._dynamo.config.patch(cache=3), torch.no_grad():
    trace.export(g.build(torch.ones(2)), _listed)
"""
    assert private_names(text) == {
        "torch._dynamo.config.patch",
        "torch._dynamo.guards.build",
        "torch._dynamo.guards.profile",
        "torch.export._trace.export",
        "torch.nn.modules.module._global_hooks",
    }


@pytest.mark.parametrize("name", DECLARED)
def test_what_is_declared_is_found_without_importing_torch(name: str) -> None:
    assert has(name) == exists(name)


def test_names_are_looked_up_in_sources(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "export").mkdir()
    (tmp_path / "__init__.py").write_text("from torch.version import git_version as git\n")
    (tmp_path / "export" / "__init__.py").write_text("try:\n    import x as y\nfinally:\n    pass\n")
    (tmp_path / "export" / "passes.py").write_text("class A:\n    B: int = 1\ndef run(): ...\nC, D = 1, 2\n")
    monkeypatch.setattr(names, "torch_folder", lambda: tmp_path)
    for name in ("git", "export", "export.y", "export.passes", "export.passes.A.B", "export.passes.D"):
        assert has.__wrapped__(f"torch.{name}"), name
    for name in ("version", "export.z", "export.passes.A.C", "export.passes.run.x", "export.other.A"):
        assert not has.__wrapped__(f"torch.{name}"), name
    with pytest.raises(ValueError, match="not the full name"):
        has.__wrapped__("numpy.ones")


def forget() -> None:
    for cached in (paths_catalog.lacks, paths_catalog._available, switches_left_out):
        cached.cache_clear()


@pytest.fixture
def without() -> Iterator[frozenset[str]]:
    """A torch without three names."""
    lacking = frozenset((DEVICE_PASS, NEEDS["region.annotate"], "torch._dynamo.config.recompile_limit"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths_catalog, "has", lambda name: name not in lacking)
        patch.setattr(programs, "has", lambda name: name not in lacking)
        forget()
        yield lacking
    forget()


def test_what_torch_lacks_is_left_out(without: frozenset[str]) -> None:
    paths = {path.without_device for path in all_paths()}
    assert "nonstrict:module" in paths
    assert "nonstrict+todevice:module" not in paths
    assert not any(path.startswith("compile") for path in paths)
    assert left_out(["nonstrict*"]) == {"nonstrict+todevice:module": (DEVICE_PASS,)}
    assert parse("nonstrict+todevice:module").transforms == ("todevice",)  # corpus files still name it
    with pytest.raises(ValueError, match=rf"needs {DEVICE_PASS}, which torch {torch_version()} lacks"):
        select_paths(["*todevice*"])


def test_programs_do_not_use_what_torch_lacks(without: frozenset[str]) -> None:
    assert switches_needing() == {"region.annotate": NEEDS["region.annotate"]}
    sources = {k: program_source(0, k, "wide")[0] for k in range(80)}
    assert not any("annotate(" in source for source in sources.values())
    forget()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "has", lambda name: True)
        everything = {k: program_source(0, k, "wide")[0] for k in sources}
    forget()
    assert any("annotate(" in source for source in everything.values())
    same = sum(everything[k] == sources[k] for k in sources)
    assert same > len(sources) / 2  # the others asked for the switch while they were drawn


def test_one_line_names_what_is_left_out() -> None:
    line = left_out_line("2.9.1", {"torch.a.b": ["x:y", "region.z"], "torch.c": ["p"]})
    assert line == "torch 2.9.1 has no torch.a.b (x:y, region.z), no torch.c (p): left out"
    assert left_out_line("2.13.0", {}) == ""


def test_a_torch_with_an_edited_line_has_another_digest(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folders = (tmp_path / "one", tmp_path / "two")
    for folder in folders:
        (folder / "fx").mkdir(parents=True)
        (folder / "fx" / "node.py").write_text("a = 1\n")
        (folder / "README").write_text(folder.name)

    def digests() -> list[str]:
        content.digest_of_torch.cache_clear()
        return [content.digest_of_torch(folder) for folder in folders]

    one, two = digests()
    assert one == two
    (folders[1] / "fx" / "node.py").write_text("a = 2\n")
    assert digests()[0] == one != digests()[1]
    # The answers come from the cache now.
    monkeypatch.setattr(content, "_digest", lambda _: "read again")
    assert digests()[0] == one
