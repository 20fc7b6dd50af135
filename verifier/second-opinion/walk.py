"""Walks the chains of streams: docs/ledger-format.md, "Chain"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from package import MAX_UNREAD
from package_forms import MAX_BOUNDARIES
from unread_links import UnreadLinks

GENESIS = "0" * 64


@dataclass(frozen=True)
class Place:
    """How far a stream has got."""

    epoch: int
    seq: int
    hash: str


@dataclass(frozen=True)
class Unread(Place):
    """A record that cannot be read, and the hash of the one before it."""

    follows: str | None


@dataclass(frozen=True)
class Boundary(Place):
    """The record before a stream's first one, as the package shows it, and what is wrong with it."""

    fault: str | None = None
    # Those shown up to it that cannot be read: a batch of the package may repeat them.
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True)
class Step(Place):
    """A record as the walk sees it. ``prev_hash`` is None if neither it nor its batch says it."""

    stream: str
    prev_hash: str | None
    previous: dict[str, Any] | None
    is_unread: bool = False


class Walk:
    """Continues from each record's own hash, so that one edit is reported once."""

    def __init__(self, boundaries: dict[str, Boundary]) -> None:
        self._boundaries = boundaries
        self._ends: dict[str, Place] = {}
        self._repeats: dict[str, Place] = {}
        self._links = UnreadLinks(MAX_UNREAD + MAX_BOUNDARIES)
        # A contradiction among these is a fault of the boundary.
        for stream, boundary in boundaries.items():
            hold_unread(self._links, stream, boundary)

    def is_repeating(self) -> bool:
        """Whether a repetition has not reached the last known record of its stream."""
        return bool(self._repeats)

    def add(self, step: Step) -> tuple[dict[str, str], bool, str | None]:
        """A record's faults, by kind; whether its place occurred before; what it follows."""
        end = self._ends.get(step.stream)
        if end and step.epoch == end.epoch and 0 < step.seq <= end.seq:
            follows = _follows(step, self._repeats.get(step.stream))
            faults = self._repeat(end, step)
            if not self._hold(step, follows):
                faults.setdefault("link", "an unread record is repeated behind another one")
            return faults, True, follows
        follows = _follows(step, end or self._boundaries.get(step.stream))
        faults = _follow(end, step) if end else self._begin(step)
        if self._repeats.pop(step.stream, None):
            faults.setdefault("sequence", "a repetition is cut off")
        self._hold(step, follows)
        self._ends[step.stream] = Place(step.epoch, step.seq, step.hash)
        return faults, False, follows

    def _hold(self, step: Step, follows: str | None) -> bool:
        place = (step.epoch, step.seq)
        return self._links.add(
            step.stream, place, step.hash, is_unread=step.is_unread, follows=follows
        )

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
        """A batch that repeats records of another one must reach the same end."""
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


def hold_unread(links: UnreadLinks, stream: str, boundary: Boundary) -> bool:
    """Whether what is shown up to a boundary is what was seen there."""
    holds = [
        links.add(stream, (one.epoch, one.seq), one.hash, is_unread=True, follows=one.follows)
        for one in boundary.unread
    ]
    return all(holds)


def _follows(step: Step, before: Place | None) -> str | None:
    if step.prev_hash is not None:
        return step.prev_hash
    return before.hash if before else None


def _follow(before: Place, step: Step) -> dict[str, str]:
    faults: dict[str, str] = {}
    if step.epoch == before.epoch:
        if step.seq != before.seq + 1:
            faults["sequence"] = "the number does not follow"
    else:
        named = step.previous or {}
        if step.is_unread and step.prev_hash == before.hash:
            # It names no hash: its link is what its writer signed as the hash before it.
            named = {"epoch": before.epoch, "last_seq": before.seq, "head": before.hash}
        end = (named.get("epoch"), named.get("last_seq"), named.get("head"))
        if step.epoch != before.epoch + 1 or end != (before.epoch, before.seq, before.hash):
            faults["epoch"] = "the epoch does not name the end of the one before"
        if step.seq != 1:
            faults["sequence"] = "the epoch does not begin with its first record"
    if step.prev_hash is not None and step.prev_hash != before.hash:
        faults["link"] = "the hash that it names is not that of the record before"
    return faults
