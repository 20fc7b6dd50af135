"""What the control plane disputed: docs/evidence-format.md, "Disputes"."""

from __future__ import annotations

from typing import Any

from package import Batch, Package
from records import Record
from shapes import EPOCH, POSITIVE, array, matches, record, sha256, string
from tally import Tally

# Disputed checks that a volume may have.
_MAX_DISPUTED = 300_000
_TARGET = "data_plane/"

_DETAILS = record(
    {
        "epoch": EPOCH,
        "records": array(
            record({"seq": POSITIVE, "hash": sha256, "check": string()}, is_open=True), 250
        ),
    },
    is_open=True,
)


class Disputes:
    """The checks of records that the control plane disputed before it took the record."""

    def __init__(self, package: Package, batches: dict[int, Batch]) -> None:
        # The first leaf that says so, by check, stream, epoch, seq and hash.
        self._leaves: dict[tuple[str, str, int, int, str], int] = {}
        # Selective packages: the leaf of each line of events.
        self._proven = {line: proof["leaf_index"] for line, proof in package.event_proofs}
        for one in package.events:
            self._read(one, one.batch)
        for (_, value), one in package.causes:
            self._read(one, batches.get(value["leaf_index"]))

    def _read(self, one: Record, batch: Batch | None) -> None:
        value = one.valid or {}
        if value.get("type") != "admin_action" or value["action"] != "record_disputed":
            return
        if not batch or not batch.signer or batch.signer.purpose != "batch":
            return
        details, target = value["details"], value["target"]
        if not target.startswith(_TARGET) or not matches(_DETAILS, details):
            return
        stream = target.removeprefix(_TARGET)
        for said in details["records"]:
            key = (said["check"], stream, details["epoch"], said["seq"], said["hash"])
            if key in self._leaves or len(self._leaves) < _MAX_DISPUTED:
                before = self._leaves.get(key, batch.leaf_index)
                self._leaves[key] = min(before, batch.leaf_index)

    def is_disputed(self, check: str, one: Record, batch: Batch | None = None) -> bool:
        """Whether a check was disputed in a leaf before the event's; of a cause, its batch's."""
        value: dict[str, Any] = one.valid or {}
        of = batch or one.batch
        leaf = of.leaf_index if of else self._proven.get(one.line)
        key = (check, value["stream"], value["epoch"], value["seq"], one.hash.hex())
        before = self._leaves.get(key)
        return leaf is not None and before is not None and before < leaf

    def judge(self, tally: Tally, check: str, one: Record, fault: str | None) -> None:
        """Counts an event. Its fault is a warning if it was disputed."""
        location = f"events.ndjson line {one.line}"
        if fault is not None and self.is_disputed(check, one):
            tally.warn(warning_of(one, fault), location)
        else:
            tally.hold(fault is None, fault or "", location)


def warning_of(one: Record, fault: str) -> str:
    """Names the fault, and the stream whose record has it."""
    stream = (one.valid or {})["stream"]
    return f"{fault}: the control plane disputed the record of the stream {stream} beforehand"
