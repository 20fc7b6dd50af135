"""Checks of batches, of the log, and of the proofs between them."""

from __future__ import annotations

from typing import Any

from evidence import Evidence
from keys import preferred
from merkle import Tree, is_consistent, root_of, root_of_inclusion
from note import is_checkpoint_signed, is_cosigned, log_origin, read_signature
from package import Batch
from records import Record
from signatures import is_statement_signed
from tally import Tally


def _path(path: list[str]) -> list[bytes]:
    return [bytes.fromhex(step) for step in path]


def batch_signature(evidence: Evidence) -> Tally:
    """The stream's writer signed each, or for the admin chain a ``batch`` key."""
    tally = Tally()
    for batch in evidence.package.batches:
        location = f"batches.ndjson line {batch.line}"
        tally.hold(batch.signer is not None, "no key of the stream signed the batch", location)
    return tally


def batch_root(evidence: Evidence) -> Tally:
    """The records, or their proofs, give the root that was signed."""
    tally = Tally()
    if evidence.is_selective:
        _selected_roots(evidence, tally)
    else:
        _ranged_roots(evidence, tally)
    for (line, value), record in evidence.package.causes:
        _prove(evidence, tally, record, value, f"causes.ndjson line {line}")
    return tally


def _ranged_roots(evidence: Evidence, tally: Tally) -> None:
    for line, _ in evidence.package.event_proofs:
        tally.fail("the proof is of no record", f"event-proofs.ndjson line {line}")
    for batch in evidence.package.batches:
        if batch.is_in_range and batch.count < 1:
            location = f"batches.ndjson line {batch.line}"
            tally.fail("the batch says that it has no records", location)
    records: list[Record] = []
    for record in evidence.package.events:
        batch = record.batch
        if batch is None:
            tally.fail("the record is in no batch", f"events.ndjson line {record.line}")
            continue
        if record.index == 0:
            records = []
            if record.placed and record.placed["prev_hash"] != batch.header["prev_head"]:
                location = f"events.ndjson line {record.line}"
                tally.fail("the batch begins behind another record", location)
        records.append(record)
        if record.index >= batch.count - 1:
            root = root_of(one.hash for one in records)
            holds = root.hex() == batch.header["event_root"]
            location = f"batches.ndjson line {batch.line}"
            tally.hold(holds, "the records are not those that were signed", location)
            records = []
    if records and "events.ndjson" in evidence.package.ended:
        tally.fail("a batch has more records", "batches.ndjson")


def _selected_roots(evidence: Evidence, tally: Tally) -> None:
    events = evidence.package.events
    for line, value in evidence.package.event_proofs:
        location = f"event-proofs.ndjson line {line}"
        if line > len(events):
            tally.fail("the proof is of no record", location)
        else:
            _prove(evidence, tally, events[line - 1], value, location)
    if len(evidence.package.event_proofs) < len(events):
        tally.fail("a record has no proof", "events.ndjson")


def _prove(
    evidence: Evidence, tally: Tally, record: Record, proof: dict[str, Any], location: str
) -> None:
    batch = evidence.batches.get(proof["leaf_index"])
    path = _path(proof["path"])
    root = batch and root_of_inclusion(record.hash, proof["index"], batch.count, path)
    holds = bool(batch and root and root.hex() == batch.header["event_root"])
    tally.hold(holds, "the proof does not lead to the root of the batch", location)


def log_inclusion(evidence: Evidence) -> Tally:
    """The leaves, or their proofs, give the root of the checkpoint."""
    tally = Tally()
    package, size = evidence.package, evidence.end
    checkpoint = package.checkpoints.get(size)
    if checkpoint is None:
        tally.fail("the checkpoint is missing", f"checkpoints/{size}.note")
    root = checkpoint.root if checkpoint else None
    tree = None if evidence.is_selective else _frontier(evidence, tally)
    paths = {proof["leaf_index"]: _path(proof["path"]) for proof in package.proofs["leaves"]}
    for batch in package.batches:
        if batch.is_in_range:
            if tree:
                tree.add(batch.leaf)
            tally.ok()
            continue
        path = paths.get(batch.leaf_index)
        found = None
        if path is not None:
            found = root_of_inclusion(batch.leaf, batch.leaf_index, size, path)
        location = f"batches.ndjson line {batch.line}"
        holds = found is not None and found == root
        tally.hold(holds, "the batch is not shown to be in the log", location)
    if tree and "batches.ndjson" in package.ended:
        holds = tree.size == size and tree.root() == root
        tally.hold(holds, "the batches do not give the root of the checkpoint", "batches.ndjson")
    return tally


def _frontier(evidence: Evidence, tally: Tally) -> Tree | None:
    span = evidence.package.proofs["range"]
    try:
        if span is None:
            raise ValueError("there is none")
        return Tree(span["start"], _path(span["frontier"]))
    except ValueError:
        tally.fail("the range has no frontier", "proofs.json range")
        return None


def log_consistency(evidence: Evidence) -> Tally:
    """The log continues what the anchor pins; after restores, no part of it was lost."""
    tally = Tally()
    if evidence.anchor is None:
        tally.skip("no anchor pins the log")
        return tally
    pinned, log = evidence.anchor["log"], evidence.manifest["log"]
    size, epoch, end = pinned["size"], pinned["epoch"], evidence.end
    if pinned["origin"] != log_origin(evidence.anchor["tenant_id"], epoch):
        tally.fail("the anchor pins another log", "trust anchor")
        return tally
    is_newer = epoch == log["epoch"] and size > end
    leads = _is_one_tree(evidence, size, pinned["root"])
    if epoch > log["epoch"] or (is_newer and leads is None):
        tally.skip("the anchor is newer than the package, which does not lead to it")
        return tally
    fault, reached, kept, announced = _follow_epochs(evidence, epoch)
    if fault is not None:
        tally.fail(fault, "keys.json log_epochs")
    elif leads:
        tally.ok()
    elif reached < epoch or (kept is not None and size > kept):
        lost = "the anchor is of a part of the log that a restore lost"
        tally.fail(f"{lost}: announced at {announced}, which kept {kept} leaves", "keys.json")
    elif leads is None:
        tally.fail("no proof begins where the anchor is", "proofs.json consistency")
    else:
        tally.fail("the log does not continue the one that the anchor pins", "proofs.json")
    return tally


def _is_one_tree(evidence: Evidence, size: int, root: str) -> bool | None:
    """Whether a proof joins a place and the package's checkpoint; None without a proof."""
    end = evidence.end
    checkpoint = evidence.package.checkpoints.get(end)
    own, other = checkpoint.root if checkpoint else b"", bytes.fromhex(root)
    start, to, roots = (end, size, (own, other)) if size > end else (size, end, (other, own))
    for proof in evidence.package.proofs["consistency"]:
        if (proof["from"], proof["to"]) == (start, to):
            return is_consistent(start, to, *roots, _path(proof["path"]))
    return is_consistent(start, to, *roots, []) if start in (0, to) else None


def _follow_epochs(
    evidence: Evidence, anchored: int
) -> tuple[str | None, int, int | None, str]:
    """Walks back over the statements of restores, from the package's epoch to the anchor's.

    Returns a fault or None; the epoch that was reached, below the anchor's if that whole epoch
    was lost; how many leaves every restore kept, or None; and when that restore was announced.
    """
    epoch, kept, announced = evidence.manifest["log"]["epoch"], None, ""
    while epoch > anchored:
        of_epoch = [
            one
            for one in evidence.package.keys["log_epochs"]
            if (one["statement"]["epoch"], one["statement"]["tenant_id"])
            == (epoch, evidence.manifest["tenant_id"])
        ]
        signed = of_epoch[0] if of_epoch else None
        key = signed and evidence.keyset.find("checkpoint", signed["kid"])
        if (
            not signed
            or not key
            or not is_statement_signed(key.jwk, signed["statement"], signed["signature"])
        ):
            fault = "no signed statement says how the log went on after a restore"
            return fault, epoch, kept, announced
        if len(of_epoch) > 1:
            return "two statements begin one log epoch", epoch, kept, announced
        statement, restored = signed["statement"], signed["statement"]["restored"]
        evidence.use(key, "keys.json log_epochs", statement["time"])
        if restored["epoch"] >= epoch:
            return "the log went on after a restore elsewhere", epoch, kept, announced
        # What a later restore lost can no longer be compared.
        if kept is None or restored["size"] <= kept:
            if not _is_one_tree(evidence, restored["size"], restored["root"]):
                fault = "the log is not shown to go on from where it was restored"
                return fault, epoch, kept, announced
            kept, announced = restored["size"], statement["time"]
        epoch = restored["epoch"]
    return None, epoch, kept, announced


def checkpoint_signature(evidence: Evidence) -> Tally:
    """A ``checkpoint`` key signed each checkpoint."""
    tally = Tally()
    checkpoints = evidence.package.checkpoints
    if evidence.end not in checkpoints:
        tally.fail("the checkpoint is missing", f"checkpoints/{evidence.end}.note")
    for size, checkpoint in checkpoints.items():
        location = f"checkpoints/{size}.note"
        signers = [
            key
            for key in evidence.keyset.all("checkpoint")
            if is_checkpoint_signed(checkpoint, key.jwk)
        ]
        key = preferred(signers)
        if checkpoint.size != size:
            tally.fail("the checkpoint is of another size than its name", location)
        elif key is None:
            tally.fail("not signed by a known checkpoint key", location)
        else:
            tally.ok()
            evidence.use(key, location, checkpoint.time)
    return tally


def proof_binding(evidence: Evidence) -> Tally:
    """Proofs, checkpoint, batches and records refer to the same size, leaf and place, each once."""
    tally = Tally()
    log, proofs = evidence.manifest["log"], evidence.package.proofs
    checkpoint = evidence.package.checkpoints.get(evidence.end)
    origin = checkpoint.origin if checkpoint else None
    tally.hold(origin == log["origin"], "the checkpoint is of another log", "checkpoints")
    tally.hold(log["start"] <= log["end"], "the log ends before it starts", "manifest.dsse.json")
    span = proofs["range"]
    if evidence.is_selective:
        is_of_range = span is None
    else:
        is_of_range = span and (span["start"], span["end"]) == (log["start"], log["end"])
    tally.hold(bool(is_of_range), "the range is another than the manifest's", "proofs.json range")
    for i, proof in enumerate(proofs["consistency"]):
        holds = log["end"] in (proof["from"], proof["to"])
        tally.hold(holds, "a proof is of another tree", f"proofs.json consistency/{i}")
    _bind_batches(evidence, tally)
    _bind_records(evidence, tally)
    return tally


def _bind_batches(evidence: Evidence, tally: Tally) -> None:
    """Each batch is in the range, or has its own proof: never both, and never twice."""
    proven: set[int] = set()
    for i, proof in enumerate(evidence.package.proofs["leaves"]):
        leaf = proof["leaf_index"]
        tally.hold(leaf not in proven, "a leaf is proven twice", f"proofs.json leaves/{i}")
        proven.add(leaf)
    before = -1
    for batch in evidence.package.batches:
        leaf = batch.leaf_index
        is_next = before < leaf < evidence.end
        is_proven_once = (leaf in proven) != batch.is_in_range
        location = f"batches.ndjson line {batch.line}"
        tally.hold(is_next and is_proven_once, "the batch and its proof do not match", location)
        proven.discard(leaf)
        before = leaf
    if proven and "batches.ndjson" in evidence.package.ended:
        tally.fail("a proof is of no batch", "proofs.json leaves")


def _bind_records(evidence: Evidence, tally: Tally) -> None:
    events = evidence.package.events
    if not evidence.is_selective:
        for record in events:
            if record.placed:
                holds = _is_at(record, record.batch, record.index)
                location = f"events.ndjson line {record.line}"
                tally.hold(holds, "the record is not of its batch", location)
    last = (-1, -1)
    for line, proof in evidence.package.event_proofs:
        place = (proof["leaf_index"], proof["index"])
        # A contiguous package has nothing that such a proof could be for.
        is_of_event = evidence.is_selective and line <= len(events)
        batch = evidence.batches.get(place[0])
        holds = place > last and is_of_event and _is_at(events[line - 1], batch, place[1])
        tally.hold(holds, "the proof is not of its record", f"event-proofs.ndjson line {line}")
        last = place
    for (line, value), record in evidence.package.causes:
        holds = _is_at(record, evidence.batches.get(value["leaf_index"]), value["index"])
        tally.hold(holds, "the record is not of its batch", f"causes.ndjson line {line}")


def _is_at(record: Record, batch: Batch | None, index: int) -> bool:
    if record.placed is None or batch is None:
        return False
    place, header = record.placed, batch.header
    return bool(
        place["stream"] == header["stream"]
        and place["epoch"] == header["epoch"]
        and place["seq"] == header["first_seq"] + index
    )


def witness_quorum(evidence: Evidence) -> Tally:
    """More than half of the anchor's witnesses cosigned the checkpoint, or one that continues it."""
    tally = Tally()
    witnesses = (evidence.anchor or {}).get("witnesses", [])
    shown = {
        size: checkpoint
        for size, checkpoint in evidence.package.checkpoints.items()
        if _is_continued_by(evidence, size)
    }
    lines = [(one, line) for one in shown.values() for line in one.signatures]
    for number, value in evidence.package.witness:
        try:
            line = read_signature(value["cosignature"])
        except ValueError:
            tally.fail("the line is no cosignature", f"witness.ndjson line {number}")
            continue
        if value["size"] in shown:
            lines.append((shown[value["size"]], line))
    seen = {
        witness["name"]
        for witness in witnesses
        for checkpoint, line in lines
        if is_cosigned(checkpoint, line, witness["name"], witness["key"])
    }
    tally.ok(len(seen))
    names = {witness["name"] for witness in witnesses}
    if not names:
        tally.skip("no witnesses are named by an anchor")
    elif len(seen) * 2 <= len(names):
        detail = "not more than half of the witnesses cosigned the checkpoint or a later one"
        tally.fail(detail, "checkpoints")
    return tally


def _is_continued_by(evidence: Evidence, size: int) -> bool:
    """Whether the checkpoint of this name is the package's own, or proven to continue it."""
    checkpoints, end = evidence.package.checkpoints, evidence.end
    for at in (end, size):
        one = checkpoints.get(at)
        if not one or one.size != at or one.origin != evidence.manifest["log"]["origin"]:
            return False
    if size == end:
        return True
    for proof in evidence.package.proofs["consistency"]:
        if (proof["from"], proof["to"]) == (end, size):
            roots = checkpoints[end].root, checkpoints[size].root
            return is_consistent(end, size, *roots, _path(proof["path"]))
    return False
