"""Checks of the container, and of records by themselves and in their chains."""

from __future__ import annotations

from package import REQUIRED, Package
from evidence import Evidence
from note import log_origin
from tally import Tally

_SELECTIVE = "the package is selective: its records stand alone"


def container_limits(package: Package) -> Tally:
    """No limit is exceeded."""
    return _found_by_reader(package, "container.limits", len(package.names))


def container_members(package: Package) -> Tally:
    """The members are those of the format, once, in order."""
    tally = _found_by_reader(package, "container.members", len(package.names))
    for name in REQUIRED:
        if name not in package.names:
            tally.fail("a member is missing", name)
    return tally


def json_strict(package: Package) -> Tally:
    """Every text has one reading, and matches its form."""
    return _found_by_reader(package, "json.strict", package.documents)


def _found_by_reader(package: Package, check: str, held: int) -> Tally:
    tally = Tally(held)
    for name, detail, location in package.problems:
        if name == check:
            tally.fail(detail, location)
    return tally


def files_digest(evidence: Evidence) -> Tally:
    """The members are those that the manifest lists, byte for byte."""
    tally = Tally()
    files = evidence.manifest["files"]
    listed = {file["name"]: (file["size"], file["sha256"]) for file in files}
    if len(listed) != len(files):
        tally.fail("the manifest lists a file twice", "manifest.dsse.json")
    seen = {n: d for n, d in evidence.package.digests.items() if n != "manifest.dsse.json"}
    for name, digest in seen.items():
        tally.hold(listed.get(name) == digest, "the file is not what the manifest lists", name)
    for name in listed:
        if name not in seen:
            tally.fail("a file that the manifest lists is missing", name)
    return tally


def events_canonical(evidence: Evidence) -> Tally:
    """Each record is its RFC 8785 form."""
    tally = Tally()
    for record in evidence.package.events:
        if not record.is_unread:
            fault = record.canonical_fault
            tally.hold(fault is None, fault or "", f"events.ndjson line {record.line}")
    for _, record in evidence.package.causes:
        fault = record.canonical_fault
        tally.hold(fault is None, fault or "", f"causes.ndjson line {record.line}")
    return tally


def events_schema(evidence: Evidence) -> Tally:
    """Each is a record of a known version."""
    tally = Tally()
    for record in evidence.package.events:
        location = f"events.ndjson line {record.line}"
        if record.is_too_large:
            detail = "a record is too large to be shown: its place and its hash are"
            tally.warn(detail, location)
        elif record.is_unread:
            tally.warn("a record was kept that its receiver could not read", location)
        else:
            fault = record.schema_fault
            tally.hold(fault is None, fault or "", location)
    for _, record in evidence.package.causes:
        fault = record.schema_fault
        tally.hold(fault is None, fault or "", f"causes.ndjson line {record.line}")
    return tally


def tenant_binding(evidence: Evidence) -> Tally:
    """Everything belongs to the anchor's tenant."""
    tally = Tally()
    package, manifest = evidence.package, evidence.manifest
    tenant = (evidence.anchor or manifest)["tenant_id"]
    other = "it belongs to another tenant"
    tally.hold(manifest["tenant_id"] == tenant, other, "manifest.dsse.json tenant_id")
    log = manifest["log"]
    origin = log_origin(tenant, log["epoch"])
    tally.hold(log["origin"] == origin, "the log is of another tenant", "manifest.dsse.json log")
    for size, note in package.checkpoints.items():
        holds = note.origin.startswith(f"agent-governance/log/{tenant}/")
        tally.hold(holds, "the checkpoint is of another tenant", f"checkpoints/{size}.note")
    for name in ("writers", "log_epochs"):
        for i, signed in enumerate(package.keys[name]):
            holds = signed["statement"]["tenant_id"] == tenant
            tally.hold(holds, other, f"keys.json {name}/{i}")
    for batch in package.batches:
        holds = batch.header["tenant_id"] == tenant
        tally.hold(holds, other, f"batches.ndjson line {batch.line}")
    for record in [*package.events, *(record for _, record in package.causes)]:
        if record.placed:
            tally.hold(record.placed["tenant_id"] == tenant, other, f"record line {record.line}")
    return tally


def _chain(evidence: Evidence, kind: str) -> Tally:
    tally = Tally()
    if evidence.is_selective:
        tally.skip(_SELECTIVE)
    for record in evidence.package.events:
        fault = record.chain.get(kind)
        tally.hold(fault is None, fault or "", f"events.ndjson line {record.line}")
    return tally


def chain_sequence(evidence: Evidence) -> Tally:
    """Numbers follow each other, and repetitions reach the last known record."""
    tally = _chain(evidence, "sequence")
    if evidence.is_repetition_cut:
        tally.fail("a repetition is cut off", "events.ndjson")
    return tally


def chain_links(evidence: Evidence) -> Tally:
    """Each record names the hash of the one before it."""
    return _chain(evidence, "link")


def chain_epochs(evidence: Evidence) -> Tally:
    """Each epoch names the end of the one before it."""
    return _chain(evidence, "epoch")


def chain_start(evidence: Evidence) -> Tally:
    """Each stream begins with its first record, or after its boundary."""
    return _chain(evidence, "start")


def chain_head(evidence: Evidence) -> Tally:
    """Each stream begins and ends where the manifest says, each batch with its head."""
    tally = Tally()
    streams: dict[str, dict[str, object]] = {}
    for record in evidence.package.events:
        batch, place, digest = record.batch, record.placed or {}, record.hash.hex()
        header = batch.header if batch else {}
        if batch and record.index == batch.count - 1:
            location = f"events.ndjson line {record.line}"
            tally.hold(header["head"] == digest, "the batch ends with another record", location)
        stream = place.get("stream", header.get("stream"))
        if record.is_repeated or stream is None:
            continue
        epoch = place.get("epoch", header.get("epoch"))
        seq = place.get("seq", header.get("first_seq", 0) + record.index)
        prev_hash = place.get("prev_hash", header.get("prev_head"))
        first = {"epoch": epoch, "seq": seq, "prev_hash": prev_hash}
        found = streams.setdefault(stream, {"stream": stream, "first": first, "records": 0})
        found["last"] = {"epoch": epoch, "seq": seq, "hash": digest}
        found["records"] = int(str(found["records"])) + 1
    for i, said in enumerate(evidence.manifest["streams"]):
        actual = streams.pop(said["stream"], None)
        location = f"manifest.dsse.json streams/{i}"
        tally.hold(actual == said, "the stream does not begin or end there", location)
    if streams:
        tally.fail("the manifest does not name a stream", "events.ndjson")
    return tally


def time_order(evidence: Evidence) -> Tally:
    """Times of a stream do not run backwards."""
    tally = Tally()
    last: dict[str, str] = {}
    for record in evidence.package.events:
        if record.placed is None or record.is_repeated:
            continue
        stream, time = record.placed["stream"], record.placed["timestamp"]
        if time < last.get(stream, ""):
            location = f"events.ndjson line {record.line}"
            tally.warn("a record is older than the one before it", location)
        else:
            tally.ok()
        last[stream] = time
    return tally
