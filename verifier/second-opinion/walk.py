"""Walks the chains of streams: docs/ledger-format.md, "Chain"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

GENESIS = "0" * 64


@dataclass(frozen=True)
class Place:
    """Where a stream has come to."""

    epoch: int
    seq: int
    hash: str


@dataclass(frozen=True)
class Boundary(Place):
    """The record before a stream's first one, as the package shows it, and what is wrong with it."""

    fault: str | None = None


@dataclass(frozen=True)
class Step(Place):
    """A record as the walk sees it. ``prev_hash`` is None where the record cannot be read."""

    stream: str
    prev_hash: str | None
    previous: dict[str, Any] | None


class Walk:
    """Goes on from each record's own hash, so that one edit shows once."""

    def __init__(self, boundaries: dict[str, Boundary]) -> None:
        self._boundaries = boundaries
        self._ends: dict[str, Place] = {}
        self._repeats: dict[str, Place] = {}

    def is_repeating(self) -> bool:
        """Whether a repetition has not come to the last record that is known of its stream."""
        return bool(self._repeats)

    def add(self, step: Step) -> tuple[dict[str, str], bool]:
        """The faults of a record's place, by kind, and whether its place was there before."""
        end = self._ends.get(step.stream)
        if end and step.epoch == end.epoch and 0 < step.seq <= end.seq:
            return self._repeat(end, step), True
        faults = _follow(end, step) if end else self._begin(step)
        if self._repeats.pop(step.stream, None):
            faults.setdefault("sequence", "a repetition is cut off")
        self._ends[step.stream] = Place(step.epoch, step.seq, step.hash)
        return faults, False

    def _begin(self, step: Step) -> dict[str, str]:
        boundary = self._boundaries.get(step.stream)
        if boundary is None:
            if (step.epoch, step.seq, step.prev_hash) == (1, 1, GENESIS):
                return {}
            return {"start": "the stream begins here, and the record before is not shown"}
        faults = _follow(boundary, step)
        if boundary.fault is not None:
            faults["start"] = boundary.fault
        elif faults:
            faults["start"] = "the record that is shown is not the one before"
        return faults

    def _repeat(self, end: Place, step: Step) -> dict[str, str]:
        """A batch repeats what another one had: it must come to the same end."""
        before = self._repeats.get(step.stream)
        self._repeats[step.stream] = step
        if step.seq == end.seq:
            del self._repeats[step.stream]
            if step.hash != end.hash:
                return {"link": "a record that is repeated is another one"}
        if before:
            is_next = before.seq + 1 == step.seq
            if not is_next or step.prev_hash not in (None, before.hash):
                return {"link": "records that are repeated do not follow each other"}
        return {}


def _follow(before: Place, step: Step) -> dict[str, str]:
    faults: dict[str, str] = {}
    if step.epoch == before.epoch:
        if step.seq != before.seq + 1:
            faults["sequence"] = "the number does not follow"
    else:
        named = step.previous or {}
        end = (named.get("epoch"), named.get("last_seq"), named.get("head"))
        if step.epoch != before.epoch + 1 or end != (before.epoch, before.seq, before.hash):
            faults["epoch"] = "the epoch does not name the end of the one before"
        if step.seq != 1:
            faults["sequence"] = "the epoch does not begin with its first record"
    if step.prev_hash is not None and step.prev_hash != before.hash:
        faults["link"] = "the hash that it names is not that of the record before"
    return faults
