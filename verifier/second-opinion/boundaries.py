"""The records before the first ones of streams: docs/evidence-format.md, "Proofs"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping

from merkle import root_of_inclusion
from package import Batch
from records import Record, read_record
from walk import GENESIS, Boundary, Unread

_NOT_OF_IT = "the record that is shown as the one before is no such"
_NOT_A_RUN = "the records that are shown before the package do not follow each other"


@dataclass(frozen=True)
class Before:
    """What a stream had before the package, and whether that lies before its time."""

    stream: str
    boundary: Boundary
    is_before: bool
    # Its index in proofs.boundaries.
    index: int


@dataclass(frozen=True)
class _Shown:
    record: Record
    epoch: int
    seq: int
    # The batch that proves its place; None where nothing does.
    batch: Batch | None
    index: int
    # Whether a place is given, proven or not.
    is_placed: bool

    @property
    def hash(self) -> str:
        return self.record.hash.hex()


def read_boundaries(
    shown: list[dict[str, Any]], batches: Mapping[int, Batch], manifest: dict[str, Any]
) -> list[Before]:
    """The record just before each stream's first one; all that are shown of a stream lead to it."""
    runs: dict[str, list[_Shown]] = {}
    last: dict[str, int] = {}
    for index, one in enumerate(shown):
        runs.setdefault(one["stream"], []).append(_read(one, batches))
        last[one["stream"]] = index
    found = []
    for stream, run in runs.items():
        end, fault = run[-1], _find_fault(run, stream, manifest["tenant_id"])
        unread = () if fault else tuple(_links(run))
        boundary = Boundary(end.epoch, end.seq, end.hash, fault, unread)
        is_before = _is_before(run, manifest["scope"]["from"])
        found.append(Before(stream, boundary, is_before, last[stream]))
    return found


def _read(shown: dict[str, Any], batches: Mapping[int, Batch]) -> _Shown:
    record = read_record(shown["record"].encode("utf-8"))
    said, place = record.placed or {}, shown.get("place")
    if place is not None:
        batch, path = batches.get(place["leaf_index"]), [bytes.fromhex(one) for one in place["path"]]
        root = batch and root_of_inclusion(record.hash, place["index"], batch.count, path)
        if batch and root and root.hex() == batch.header["event_root"]:
            seq = batch.header["first_seq"] + place["index"]
            return _Shown(record, batch.header["epoch"], seq, batch, place["index"], True)
    return _Shown(
        record, said.get("epoch", 0), said.get("seq", 0), None, 0, place is not None
    )


def _find_fault(run: list[_Shown], stream: str, tenant: str) -> str | None:
    for i, one in enumerate(run):
        if one.batch is None:
            # A record that stands alone says itself where it was.
            holds = len(run) == 1 and not one.is_placed and one.record.valid is not None
        else:
            is_record = one.record.valid is not None or one.record.is_unread
            holds = one.batch.header["stream"] == stream and is_record
        holds = holds and one.record.canonical_fault is None
        place = one.record.placed
        if place is not None:
            said = (place["stream"], place["tenant_id"], place["epoch"], place["seq"])
            holds = holds and said == (stream, tenant, one.epoch, one.seq)
        if not holds:
            return _NOT_OF_IT
        if i > 0 and not _is_next(run[i - 1], one):
            return _NOT_A_RUN
    return None


def _links(run: list[_Shown]) -> Iterator[Unread]:
    """What the unread ones follow: nothing else may be at these places later."""
    before = None
    for one in run:
        if one.record.is_unread and one.batch:
            follows = one.batch.header["prev_head"] if one.index == 0 else before
            yield Unread(one.epoch, one.seq, one.hash, follows)
        before = one.hash


def _is_next(before: _Shown, one: _Shown) -> bool:
    """As signed: within one batch, or by the hash before a batch."""
    behind = [(before.epoch, before.seq + 1), (before.epoch + 1, 1)]
    if one.batch is None or (one.epoch, one.seq) not in behind:
        return False
    if one.index == 0:
        return bool(one.batch.header["prev_head"] == before.hash)
    return one.batch is before.batch


def _is_before(run: list[_Shown], start: str) -> bool:
    for one in reversed(run):
        if one.record.placed:
            return bool(one.record.placed["timestamp"] < start)
    first = run[0]
    if first.batch is None or (first.epoch, first.seq, first.index) != (1, 1, 0):
        return False
    return bool(first.batch.header["prev_head"] == GENESIS)
