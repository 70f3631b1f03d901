"""A Finding: one difference between eager and another path, as plain data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["mismatch", "crash", "hang", "abort"]
Stage = Literal["export", "lower", "run"]


@dataclass(frozen=True)
class Finding:
    """One difference, where it shows and what its cause looks like."""

    path: str
    """``nonstrict:unflatten@cpu``"""
    mode: str
    transforms: tuple[str, ...]
    runner: str
    device: str
    check: str
    kind: Kind
    stage: Stage
    signature: tuple[str, ...]
    """What tells one cause from another: stable words; no values, indices, line numbers."""
    message: str
    """At most ten lines: what was expected, what was seen, where, by how much."""
    call: int | None = None
    """Which of the consecutive calls; None for what holds without one."""
    also: tuple[str, ...] = ()
    """One line for each further place where the same cause shows."""
    minimal: str = ""
    """The fingerprint that the minimized program gave it (harness/source/canonical.py); empty before that."""

    @property
    def fingerprint(self) -> str:
        """Short id of the cause: until it is minimized, of signature and path, whatever the device."""
        if self.minimal:
            return self.minimal
        cause = json.dumps([self.signature, self.mode, self.transforms, self.runner])
        return hashlib.sha256(cause.encode()).hexdigest()[:10]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; ``from_dict`` undoes it. Carries the fingerprint for readers' sake."""
        return {"fingerprint": self.fingerprint, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Finding:
        """Rebuild from ``as_dict``, also after a trip through JSON; ignores unknown keys."""
        return cls(
            path=str(data["path"]),
            mode=str(data["mode"]),
            transforms=tuple(data["transforms"]),
            runner=str(data["runner"]),
            device=str(data["device"]),
            check=str(data["check"]),
            kind=cast("Kind", data["kind"]),
            stage=cast("Stage", data["stage"]),
            signature=tuple(data["signature"]),
            message=str(data["message"]),
            call=data.get("call"),
            also=tuple(data.get("also", ())),
            minimal=str(data.get("minimal", "")),
        )
