"""Arguments are copied as objects, as a user passes them, not built again from their leaves."""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from exportdiff.runtime.inputs.copies import Examples
from exportdiff.runtime.inputs.objects import survives_rebuilding
from exportdiff.runtime.observing.containers import attributes
from support.wrappers import Batch, Pair, titled


@dataclass
class Counted:
    value: torch.Tensor
    count: int = field(default=0, init=False)


torch.export.register_dataclass(Counted, serialized_type_name="exportdiff_tests.Counted")


class Options(dict):  # type: ignore[type-arg]
    """A dict with an attribute."""


def _fresh(*args: Any) -> Any:
    return Examples(args, {}).fresh().args


def test_attributes_and_classes_are_kept() -> None:
    counted, pair, options = Counted(torch.ones(2)), Pair(torch.ones(2), 3), Options(a=torch.ones(2))
    counted.count, pair.tag, options.tag = 4, "tag", "tag"  # type: ignore[attr-defined]
    batch, copied, pair_copy, options_copy = _fresh(titled(torch.ones(2)), counted, pair, options)
    assert (type(batch), batch.title) == (Batch, "given")
    assert (type(copied), copied.count) == (Counted, 4)
    assert (type(pair_copy), pair_copy.tag) == (Pair, "tag")
    assert (type(options_copy), options_copy.tag) == (Options, "tag")
    assert options_copy["a"] is not options["a"]


def test_what_is_one_object_stays_one_object() -> None:
    tensor = torch.ones(4)
    both = [tensor, tensor[1:]]
    first, second, alone = _fresh(both, both, tensor)
    assert first is second and first[0] is alone and alone is not tensor
    assert first[1].untyped_storage()._cdata == alone.untyped_storage()._cdata
    assert first[1].stride() == (1,) and first[1].storage_offset() == 1


def test_tensors_in_attributes_are_copied_once() -> None:
    batch = titled(torch.ones(2))
    other = torch.zeros(2)
    vars(batch)["title"] = [batch.items[0], other]
    (made,) = _fresh(batch)
    assert made.title[0] is made.items[0] and made.items[0] is not batch.items[0]
    assert made.title[1] is not other


def test_later_calls_get_other_values_in_equal_objects() -> None:
    examples = Examples((titled(torch.ones(2)),), {})
    first, second = examples.fresh(0).args[0], examples.fresh(1).args[0]
    assert (first.title, second.title) == ("given", "given")
    assert not torch.equal(first.items[0], second.items[0])


def test_what_cannot_be_copied_is_passed_on() -> None:
    lock, module = threading.Lock(), nn.Linear(2, 2)
    tensor = torch.ones(2)
    (made,) = _fresh({"lock": lock, "module": module, "pair": (tensor, lock)})
    assert made["lock"] is lock and made["module"] is module
    assert made["pair"][0] is not tensor and torch.equal(made["pair"][0], tensor)


def test_marks_of_dynamic_sizes_are_kept() -> None:
    tensor = torch.ones(3, 2)
    torch._dynamo.mark_dynamic(tensor, 0)
    (made,) = _fresh(tensor)
    assert made._dynamo_dynamic_indices == {0}


def test_a_container_that_loses_attributes_gets_no_other_leaves() -> None:
    kept, lost = Examples(([torch.ones(2)],), {}), Examples((titled(torch.ones(2)),), {})
    names = {"dtype", "no-grad"}
    assert [one.deviation for one in kept.deviations(names, "")] == ["dtype", "no-grad"]
    assert [one.deviation for one in lost.deviations(names, "")] == ["no-grad"]
    assert survives_rebuilding(kept.fresh().args) and not survives_rebuilding(lost.fresh().args)


def test_attributes_of_containers() -> None:
    pair = Pair(torch.ones(2), 3)
    vars(pair).update(tag=[1, "a"], _hidden=2)
    tree = {"x": [titled(torch.ones(2)), pair], "y": copy.copy}
    assert attributes(tree) == {
        "['x'][0].items": "list ['a tensor']",
        "['x'][0].title": "str: 'given'",
        "['x'][1].tag": "list ['int: 1', \"str: 'a'\"]",
    }
    assert attributes(tree, private=True)["['x'][1]._hidden"] == "int: 2"
    assert attributes([torch.ones(2), {"a": (1, None)}]) == {}
