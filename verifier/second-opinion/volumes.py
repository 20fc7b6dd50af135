"""Compares the volumes of one export: docs/evidence-format.md, "Checks of a set"."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from canonical import canonicalize
from disputes import warning_of
from evidence import Evidence
from merkle import Tree
from package import Package
from records import Record
from tally import Tally
from unread_links import UnreadLinks
from walk import Boundary, hold_unread

NAMES = ("set.volumes", "set.log", "set.streams", "set.approvals")
# Limits of what is remembered of a set.
MAX_STREAMS = 100_000
MAX_APPROVALS = 1_000_000
MAX_UNREAD = 1_000_000
# Approvals of earlier volumes that one may use again, if that was disputed.
MAX_AGAIN = 100_000
_SELECTIVE = "the volumes are selective: their records stand alone"

Place = tuple[int, int]


@dataclass(frozen=True)
class _Use:
    """The record that used an approval."""

    file: int
    hash: bytes
    is_disputed: bool


class VolumeSet:
    """Receives each volume in turn. Of earlier ones it keeps the ends, and the used approvals."""

    def __init__(self) -> None:
        self.tallies = {name: Tally() for name in NAMES}
        self._files = 0
        self._of: int | None = None
        self._manifest: dict[str, Any] | None = None
        self._digest = ""
        self._root: bytes | None = None
        # By stream: the last place and its hash.
        self._ends: dict[str, tuple[Place, str]] = {}
        # By stream and approval.
        self._uses: dict[tuple[str, str], _Use] = {}
        self._links = UnreadLinks(MAX_UNREAD)

    def add(self, package: Package, evidence: Evidence | None) -> None:
        """Takes the next volume; without evidence it is not a package."""
        self._files += 1
        if evidence is None:
            for tally in self.tallies.values():
                tally.fail(f"file {self._files} is no package")
            self._manifest = None
            return
        if self._of is None:
            self._of = evidence.manifest["volume"]["of"]
        self._hold_order(evidence.manifest)
        checkpoint = package.checkpoints.get(evidence.end)
        root = checkpoint.root if checkpoint else None
        self._hold_log(evidence, root)
        if evidence.is_selective:
            self.tallies["set.streams"].skip(_SELECTIVE)
        else:
            self._hold_streams(evidence)
        self._hold_approvals(package, evidence)
        self._manifest, self._root = evidence.manifest, root
        self._digest = hashlib.sha256(package.payload).hexdigest()

    def end(self) -> dict[str, Tally]:
        """What each check found, in the order of reports."""
        if self._of is not None and self._of != self._files:
            detail = f"{self._files} of {self._of} volumes are there"
            self.tallies["set.volumes"].fail(detail)
        return self.tallies

    def _hold_order(self, manifest: dict[str, Any]) -> None:
        tally, file, before = self.tallies["set.volumes"], self._files, self._manifest
        volume = manifest["volume"]
        if volume["number"] != file:
            tally.fail(f"file {file} is volume {volume['number']}")
        elif before is None:
            tally.ok()
        elif manifest["set_id"] != before["set_id"]:
            tally.fail(f"file {file} is of another export")
        elif _common(manifest) != _common(before):
            tally.fail(f"file {file} is of another tenant, scope or log")
        else:
            holds = volume["previous"] == self._digest
            tally.hold(holds, f"file {file} follows another volume than the one before")

    def _hold_log(self, evidence: Evidence, root: bytes | None) -> None:
        if self._manifest is None:
            return
        tally, file, log = self.tallies["set.log"], self._files, evidence.manifest["log"]
        before = self._manifest["log"]
        size, start = (log["end"], root) if evidence.is_selective else _start(evidence)
        if log["epoch"] != before["epoch"]:
            tally.fail(f"file {file} is of another log epoch")
        elif size != before["end"]:
            tally.fail(f"file {file} does not go on where the log of the one before ends")
        else:
            holds = start is not None and start == self._root
            tally.hold(holds, f"file {file} goes on from another log than the one before")

    def _hold_streams(self, evidence: Evidence) -> None:
        tally, file = self.tallies["set.streams"], self._files
        boundaries = {one.stream: one for one in evidence.before}
        for one in evidence.before:
            if not hold_unread(self._links, one.stream, one.boundary):
                tally.fail(f"an unread record is in file {file} behind another one than before")
        repeated: dict[str, tuple[Place, str]] = {}
        for said in evidence.manifest["streams"]:
            stream, first, last = said["stream"], said["first"], said["last"]
            end, before = self._ends.get(stream), boundaries.get(stream)
            if end is None:
                is_whole = (
                    before.is_before if before else (first["epoch"], first["seq"]) == (1, 1)
                )
                detail = f"file {file} has a stream whose records of before no volume has"
                tally.hold(is_whole or file == 1, detail)
            elif before and _end_of(before.boundary) == end:
                tally.ok()
            elif first["epoch"] == end[0][0] and first["seq"] <= end[0][1]:
                repeated[stream] = end
            else:
                tally.fail(f"records of a stream are missing before file {file}")
        self._hold_records(evidence, repeated)
        for said in evidence.manifest["streams"]:
            stream, last = said["stream"], said["last"]
            if len(self._ends) < MAX_STREAMS or stream in self._ends:
                self._ends[stream] = ((last["epoch"], last["seq"]), last["hash"])
            else:
                tally.fail("there are more streams than a set may have")

    def _hold_records(self, evidence: Evidence, repeated: dict[str, tuple[Place, str]]) -> None:
        """Repeated records are the same, and reach the place where the stream was left."""
        tally, file = self.tallies["set.streams"], self._files
        for record in evidence.package.events:
            where = _place(record)
            if where is None:
                continue
            stream, place, digest = where[0], where[1:], record.hash.hex()
            links, follows = self._links, record.follows
            if not links.add(
                stream, place, digest, is_unread=record.is_unread, follows=follows
            ):
                tally.fail(f"an unread record is in file {file} behind another one than before")
            end = repeated.get(stream)
            if end and end[0] == place:
                del repeated[stream]
                holds = digest == end[1]
                tally.hold(holds, f"a record that file {file} repeats is another one")
        for _ in repeated:
            tally.fail(f"a repetition is cut off in file {file}")
        if self._links.is_full:
            tally.fail("there are more unread records than a set may have")

    def _hold_approvals(self, package: Package, evidence: Evidence) -> None:
        tally, file, again = self.tallies["set.approvals"], self._files, 0
        for record in package.events:
            value = record.valid
            if value is None or value["type"] != "decision":
                continue
            grant = value.get("grant_id")
            if grant is None:
                continue
            # A call of another data plane is no use: approval.binding.
            use = (value["stream"], grant)
            known = self._uses.get(use)
            if known and known.hash == record.hash:
                continue
            is_disputed = evidence.disputes.is_disputed("approval.binding", record)
            one = _Use(file, record.hash, is_disputed)
            if known and known.file == file:
                # approval.binding. A later volume contradicts the undisputed one.
                if known.is_disputed and not is_disputed:
                    self._uses[use] = one
            elif known:
                fault = f"an approval was used in file {known.file} and in file {file}"
                again += 1
                if again <= MAX_AGAIN and (known.is_disputed or is_disputed):
                    tally.warn(warning_of(record, fault))
                else:
                    tally.fail(fault)
                if known.is_disputed:
                    self._uses[use] = one
            elif len(self._uses) >= MAX_APPROVALS:
                tally.fail("there are more approvals than a set may have")
            else:
                self._uses[use] = one
                tally.ok()


def _common(manifest: dict[str, Any]) -> bytes:
    log = manifest["log"]
    said = [manifest["tenant_id"], manifest["scope"], log["origin"], log["epoch"]]
    return canonicalize([*said, manifest["volume"]["of"]])


def _start(evidence: Evidence) -> tuple[int, bytes | None]:
    """Where the log stood before a range, by its frontier."""
    size, span = evidence.manifest["log"]["start"], evidence.package.proofs["range"]
    if span is None or span["start"] != size:
        return size, None
    try:
        return size, Tree(size, [bytes.fromhex(root) for root in span["frontier"]]).root()
    except ValueError:
        return size, None


def _end_of(boundary: Boundary) -> tuple[Place, str]:
    return (boundary.epoch, boundary.seq), boundary.hash


def _place(record: Record) -> tuple[str, int, int] | None:
    if record.placed:
        place = record.placed
        return place["stream"], place["epoch"], place["seq"]
    if record.batch is None:
        return None
    header = record.batch.header
    return header["stream"], header["epoch"], header["first_seq"] + record.index
