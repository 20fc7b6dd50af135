"""What the checks share: the package, what is trusted, and who signed what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from canonical import canonicalize
from keys import Key, Keyset, Use, build_keyset, preferred
from package import Batch, Package
from records import Record, read_record
from signatures import from_base64url, is_signed
from walk import Boundary, Step, Walk


@dataclass
class Evidence:
    """A package with a manifest, and the anchor that it is held against."""

    package: Package
    manifest: dict[str, Any]
    anchor: dict[str, Any] | None
    keyset: Keyset
    batches: dict[int, Batch] = field(default_factory=dict)
    # By stream: who signed a batch of it last.
    signers: dict[str, Key] = field(default_factory=dict)
    # Of each boundary: what is wrong with it, and whether it lies before the scope.
    boundaries: list[tuple[str | None, bool]] = field(default_factory=list)
    # The record of each.
    before: list[Record] = field(default_factory=list)
    # At the end of the events: a repetition has not come to a record that is known.
    is_repetition_cut: bool = False
    uses: list[Use] = field(default_factory=list)
    _used: set[Key] = field(default_factory=set)

    @property
    def is_selective(self) -> bool:
        return bool(self.manifest["scope"]["kind"] == "selective")

    @property
    def end(self) -> int:
        return int(self.manifest["log"]["end"])

    def use(self, key: Key, location: str, at: str | None = None) -> None:
        """Notes that a key signed at a time."""
        self.uses.append(Use(key, location, not_before=at, signed_at=at))

    def use_for_batch(self, key: Key, location: str) -> bool:
        """Notes that a key signed batches: its records say when. Returns whether that is new."""
        if key in self._used:
            return False
        self._used.add(key)
        self.uses.append(Use(key, location, vouches_for=""))
        return True


def build_evidence(package: Package, anchor: dict[str, Any] | None) -> Evidence:
    """Finds who signed each batch, and walks the chains."""
    if package.manifest is None:
        raise ValueError("there is no manifest")
    keyset = build_keyset(anchor["keys"] if anchor else None, package.keys)
    evidence = Evidence(package, package.manifest, anchor, keyset)
    walk = Walk(_read_boundaries(evidence))
    log = evidence.manifest["log"]
    for batch in package.batches:
        batch.signer = _signer_of(evidence, batch)
        if batch.signer:
            evidence.signers[batch.header["stream"]] = batch.signer
        inside = log["start"] <= batch.leaf_index < log["end"]
        batch.is_in_range = inside and not evidence.is_selective
        evidence.batches[batch.leaf_index] = batch
    if not evidence.is_selective:
        _walk_events(evidence, walk)
    return evidence


def _read_boundaries(evidence: Evidence) -> dict[str, Boundary]:
    boundaries: dict[str, Boundary] = {}
    for boundary in evidence.package.proofs["boundaries"]:
        stream = boundary["stream"]
        record = read_record(boundary["record"].encode("utf-8"))
        place = record.placed or {}
        is_of_stream = (
            record.valid is not None
            and place["stream"] == stream
            and place["tenant_id"] == evidence.manifest["tenant_id"]
            and stream not in boundaries
        )
        fault = None if is_of_stream else "the record that is shown as the one before is no such"
        boundaries[stream] = Boundary(
            place.get("epoch", 0), place.get("seq", 0), record.hash.hex(), fault
        )
        is_before = place.get("timestamp", "") < evidence.manifest["scope"]["from"]
        evidence.boundaries.append((fault, is_before))
        evidence.before.append(record)
    return boundaries


def _walk_events(evidence: Evidence, walk: Walk) -> None:
    """Records lie in the order of the batches of the range: so many for each."""
    in_range = iter([batch for batch in evidence.package.batches if batch.is_in_range])
    batch, index = next(in_range, None), 0
    for record in evidence.package.events:
        record.batch, record.index = batch, index
        step = _step_of(record, batch, index)
        if step:
            record.chain, record.is_repeated = walk.add(step)
        index += 1
        if batch and index >= batch.count:
            batch, index = next(in_range, None), 0
    if "events.ndjson" in evidence.package.ended:
        evidence.is_repetition_cut = walk.is_repeating()


def _step_of(record: Record, batch: Batch | None, index: int) -> Step | None:
    """Of a record that cannot be read, its batch says where it is."""
    if record.placed:
        place = record.placed
        return Step(
            place["epoch"],
            place["seq"],
            record.hash.hex(),
            place["stream"],
            place["prev_hash"],
            place.get("previous"),
        )
    if batch is None:
        return None
    header = batch.header
    seq = header["first_seq"] + index
    return Step(header["epoch"], seq, record.hash.hex(), header["stream"], None, None)


def _signer_of(evidence: Evidence, batch: Batch) -> Key | None:
    """The stream's writer; for a stream that no writer has, a key of purpose ``batch``."""
    data = canonicalize(batch.header)
    signature = from_base64url(batch.signature)
    location = f"batches.ndjson line {batch.line}"
    writers = evidence.keyset.writers.get(batch.header["stream"], [])
    if not writers:
        signed = [
            key for key in evidence.keyset.all("batch") if is_signed(key.jwk, data, signature)
        ]
        key = preferred(signed)
        if key:
            evidence.use_for_batch(key, location)
        return key
    found = [
        writer
        for writer in writers
        if writer.vouched_by
        and writer.statement["tenant_id"] == batch.header["tenant_id"]
        and is_signed(writer.key.jwk, data, signature)
    ]
    key = preferred([writer.key for writer in found])
    writer = next((one for one in found if one.key is key), None)
    if key is None or writer is None or writer.vouched_by is None:
        return None
    if evidence.use_for_batch(key, location):
        # Said when its writer registered, or later.
        registered_at = writer.statement["registered_at"]
        vouching = Use(writer.vouched_by, "keys.json writers", signed_at=registered_at)
        evidence.uses.append(vouching)
    return key
