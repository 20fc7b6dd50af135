"""Checks of every key that signed, and of the scope."""

from __future__ import annotations

from typing import Any, Iterator

from evidence import Evidence
from keys import Key, Use, find_invalid, preferred
from package import Batch
from records import Record
from signatures import from_base64, is_signed
from tally import Tally

PAYLOAD_TYPE = "application/vnd.agent-governance.evidence.v1+json"


def manifest_signature(evidence: Evidence) -> Tally:
    """An ``evidence`` key signed the envelope's pre-authentication encoding (DSSE v1)."""
    tally = Tally()
    envelope = evidence.package.envelope or {}
    kind, payload = envelope["payloadType"], evidence.package.payload
    if kind != PAYLOAD_TYPE:
        tally.fail("the envelope is of another type", "manifest.dsse.json payloadType")
        return tally
    head = f"DSSEv1 {len(kind.encode('utf-8'))} {kind} {len(payload)} "
    data = head.encode("utf-8") + payload
    signers: list[Key] = []
    for signed in envelope["signatures"]:
        key = evidence.keyset.find("evidence", signed["keyid"])
        if key and is_signed(key.jwk, data, from_base64(signed["sig"])):
            signers.append(key)
    key = preferred(signers)
    tally.hold(key is not None, "not signed by a known evidence key", "manifest.dsse.json")
    if key:
        evidence.use(key, "manifest.dsse.json", evidence.manifest["created_at"])
    return tally


def keys_anchored(evidence: Evidence) -> Tally:
    """Every key that signed is trusted, or follows from one by rotations."""
    tally = Tally()
    if evidence.anchor is None:
        tally.skip("no anchor was given")
        return tally
    for key, location in {use.key: use.location for use in evidence.uses}.items():
        tally.hold(key.is_anchored, "the key is not one of the trusted keys", location)
    return tally


def keys_validity(evidence: Evidence) -> Tally:
    """Each was valid at the time, and is not revoked."""
    tally = Tally()
    for use in evidence.uses:
        fault = find_invalid(use)
        if fault is not None and use.decided_by is not None and _is_admitted(evidence, use):
            # A data plane decides by the bundle that it has until it hears of the revocation.
            what = f"the stream {use.decided_by} decided by a bundle whose key was revoked"
            tally.warn(what, use.location)
        else:
            tally.hold(fault is None, fault or "", use.location)
    for record, batch, location in _batched_records(evidence):
        if batch and batch.signer and record.placed:
            key = batch.signer
            at = record.placed["timestamp"]
            fault = find_invalid(Use(key, location, signed_at=at, vouches_for=at))
            if fault is not None and key.purpose == "writer":
                # What the stream says afterwards is true of one of the two.
                what = f"two writers had the key of the stream {batch.header['stream']}"
                tally.warn(what, location)
            elif fault is not None:
                tally.fail(fault, location)
    return tally


def _is_admitted(evidence: Evidence, use: Use) -> bool:
    """Whether the package itself says that the key was revoked by then."""
    place = (use.key.kid, use.key.purpose)
    return any(
        (own["kid"], own["purpose"]) == place
        and own["revoked_at"] is not None
        and own["revoked_at"] <= (use.vouches_for or "")
        for own in evidence.package.keys["keys"]
    )


def _batched_records(evidence: Evidence) -> Iterator[tuple[Record, Batch | None, str]]:
    """Every record with its batch; in selective packages the proofs tell which."""
    events, batches = evidence.package.events, evidence.batches
    if evidence.is_selective:
        for line, proof in evidence.package.event_proofs:
            if line <= len(events):
                location = f"events.ndjson line {line}"
                yield events[line - 1], batches.get(proof["leaf_index"]), location
    else:
        for record in events:
            yield record, record.batch, f"events.ndjson line {record.line}"
    for (line, value), record in evidence.package.causes:
        yield record, batches.get(value["leaf_index"]), f"causes.ndjson line {line}"


def scope_complete(evidence: Evidence) -> Tally:
    """No leaf or record of the range is missing; nothing is outside a selective scope."""
    tally = Tally()
    scope, volume = evidence.manifest["scope"], evidence.manifest["volume"]
    if scope["from"] >= scope["to"] or volume["number"] > volume["of"]:
        tally.fail("the scope is not possible", "manifest.dsse.json")
    if (volume["number"] == 1) != (volume["previous"] is None):
        tally.fail("the volume before is not named", "manifest.dsse.json")
    if evidence.is_selective:
        tally.skip("the package is selective: that nothing was left out cannot be shown")
        if evidence.package.proofs["boundaries"]:
            detail = "a selective package shows what was before its streams"
            tally.fail(detail, "proofs.json")
        for record in evidence.package.events:
            if not _is_in_scope(record.valid, scope):
                location = f"events.ndjson line {record.line}"
                tally.fail("the record is not of the scope", location)
        return tally
    if scope["filter"] is not None:
        tally.fail("a contiguous package has a filter", "manifest.dsse.json")
    _range_complete(evidence, tally)
    return tally


def _is_in_scope(record: dict[str, Any] | None, scope: dict[str, Any]) -> bool:
    if record is None or record["type"] != "decision":
        return record is not None
    if not scope["from"] <= record["timestamp"] < scope["to"]:
        return False
    wanted = scope["filter"] or {}
    if "agent_ids" in wanted and record["agent_id"] not in wanted["agent_ids"]:
        return False
    session = wanted.get("workflow_session_id")
    return session is None or record["workflow_session_id"] == session


def _range_complete(evidence: Evidence, tally: Tally) -> None:
    package = evidence.package
    following, expected = evidence.manifest["log"]["start"], 0
    for batch in package.batches:
        if batch.is_in_range:
            location = f"batches.ndjson line {batch.line}"
            holds = batch.leaf_index == following
            tally.hold(holds, "a leaf of the range is missing", location)
            following = batch.leaf_index + 1
            expected += batch.count
    if "batches.ndjson" in package.ended and following != evidence.end:
        tally.fail("the last leaves of the range are missing", "batches.ndjson")
    if "events.ndjson" not in package.ended:
        return
    in_range = sum(1 for batch in package.batches if batch.is_in_range)
    whole = sum(1 for one in package.events if one.batch and one.index == one.batch.count - 1)
    # Each batch separately: in a sum, one with more records than it claims hides one with fewer.
    holds = len(package.events) == expected and whole == in_range
    tally.hold(holds, "the batches have another number of records", "events.ndjson")
    # Later volumes begin in the middle of the time.
    is_first = evidence.manifest["volume"]["number"] == 1
    for one in evidence.before:
        fault = one.boundary.fault
        holds = fault is None and (one.is_before or not is_first)
        what = fault or "a record of the time comes before the package"
        tally.hold(holds, what, f"proofs.json boundaries/{one.index}")
