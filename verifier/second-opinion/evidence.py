"""What the checks share: the package, what is trusted, and who signed what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from boundaries import Before, read_boundaries
from canonical import canonicalize
from disputes import Disputes
from keys import Key, Keyset, Use, Writer, build_keyset
from package import Batch, Package
from records import Record
from signatures import from_base64url, is_signed
from walk import Step, Walk


# Failed key attempts allowed in a package.
MAX_MISSES = 20_000


@dataclass(frozen=True)
class _Candidate:
    """A key that may have signed a batch; for a data plane's stream, with who vouches for it."""

    key: Key
    writer: Writer | None = None


@dataclass
class Evidence:
    """A package with a manifest, and the anchor to check it against."""

    package: Package
    manifest: dict[str, Any]
    anchor: dict[str, Any] | None
    keyset: Keyset
    batches: dict[int, Batch] = field(default_factory=dict)
    # By stream: who signed its last batch.
    signers: dict[str, Key] = field(default_factory=dict)
    # For streams that existed before the package.
    before: list[Before] = field(default_factory=list)
    # At the end of the events: a repetition has not reached a known record.
    is_repetition_cut: bool = False
    uses: list[Use] = field(default_factory=list)
    _disputes: Disputes | None = None
    _used: set[Key] = field(default_factory=set)

    @property
    def is_selective(self) -> bool:
        return bool(self.manifest["scope"]["kind"] == "selective")

    @property
    def end(self) -> int:
        return int(self.manifest["log"]["end"])

    @property
    def disputes(self) -> Disputes:
        """What the control plane disputed; known once the signers are."""
        if self._disputes is None:
            self._disputes = Disputes(self.package, self.batches)
        return self._disputes

    def use(self, key: Key, location: str, at: str | None = None) -> None:
        """Notes that a key signed at a time."""
        self.uses.append(Use(key, location, not_before=at, signed_at=at))

    def use_for_batch(self, key: Key, location: str) -> bool:
        """Notes that a key signed batches: their records say when. Returns whether that is new."""
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
    log = evidence.manifest["log"]
    search = _SignerSearch(evidence)
    for batch in package.batches:
        batch.signer = search.signer_of(batch)
        if batch.signer:
            evidence.signers[batch.header["stream"]] = batch.signer
        inside = log["start"] <= batch.leaf_index < log["end"]
        batch.is_in_range = inside and not evidence.is_selective
        evidence.batches[batch.leaf_index] = batch
    shown = package.proofs["boundaries"]
    evidence.before = read_boundaries(shown, evidence.batches, evidence.manifest)
    if not evidence.is_selective:
        walk = Walk({one.stream: one.boundary for one in evidence.before})
        _walk_events(evidence, walk)
    return evidence


def _walk_events(evidence: Evidence, walk: Walk) -> None:
    """Records follow in the order of the batches of the range, as many as each has."""
    in_range = iter([batch for batch in evidence.package.batches if batch.is_in_range])
    batch, index = next(in_range, None), 0
    for record in evidence.package.events:
        record.batch, record.index = batch, index
        step = _step_of(record, batch, index)
        if step:
            record.chain, record.is_repeated, record.follows = walk.add(step)
        index += 1
        if batch and index >= batch.count:
            batch, index = next(in_range, None), 0
    if "events.ndjson" in evidence.package.ended:
        evidence.is_repetition_cut = walk.is_repeating()


def _step_of(record: Record, batch: Batch | None, index: int) -> Step | None:
    """The batch of a record without a readable place says where it is."""
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
    # Its writer signed the hash before the batch's first record, readable or not.
    prev_hash = header["prev_head"] if index == 0 else None
    where = (header["epoch"], seq, record.hash.hex(), header["stream"])
    return Step(*where, prev_hash, None, record.is_unread)


class _SignerSearch:
    """Finds who signed batches; gives up after MAX_MISSES keys that did not.

    The key of the stream's previous batch is tried first, and is never counted.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._misses = 0
        self._latest: dict[str, _Candidate] = {}
        self._candidates: dict[str, list[_Candidate]] = {}

    def signer_of(self, batch: Batch) -> Key | None:
        """The stream's writer, or for a stream without a writer a key of purpose ``batch``."""
        found = self._find(batch)
        if found is None:
            return None
        location = f"batches.ndjson line {batch.line}"
        if self._evidence.use_for_batch(found.key, location) and found.writer:
            vouched_by = found.writer.vouched_by
            if vouched_by is not None:
                # Signed when its writer registered, or later.
                registered_at = found.writer.statement["registered_at"]
                vouching = Use(vouched_by, "keys.json writers", signed_at=registered_at)
                self._evidence.uses.append(vouching)
        return found.key

    def _find(self, batch: Batch) -> _Candidate | None:
        stream = batch.header["stream"]
        data, signature = canonicalize(batch.header), from_base64url(batch.signature)
        before = self._latest.get(stream)
        if before and is_signed(before.key.jwk, data, signature):
            return before
        for one in self._candidates_of(stream):
            if self._misses >= MAX_MISSES:
                return None
            if is_signed(one.key.jwk, data, signature):
                self._latest[stream] = one
                return one
            self._misses += 1
        return None

    def _candidates_of(self, stream: str) -> list[_Candidate]:
        """The keys that may sign a stream, trusted ones first."""
        if stream not in self._candidates:
            evidence = self._evidence
            writers = evidence.keyset.writers.get(stream, [])
            tenant = evidence.manifest["tenant_id"]
            found = [
                _Candidate(writer.key, writer)
                for writer in writers
                if writer.vouched_by and writer.statement["tenant_id"] == tenant
            ]
            if not writers:
                found = [_Candidate(key) for key in evidence.keyset.all("batch")]
            found.sort(key=lambda one: not one.key.is_anchored)
            self._candidates[stream] = found
        return self._candidates[stream]
