"""Forms of the package's members and of the anchor: docs/evidence-format.md."""

from __future__ import annotations

from shapes import (
    COUNT,
    EPOCH,
    POSITIVE,
    array,
    boolean,
    identifier,
    integer,
    nullable,
    one_of,
    pattern,
    private_free_jwk,
    record,
    sha256,
    string,
    text,
    timestamp,
)

FORMAT = "agent-governance-evidence/v1"
ANCHOR_FORMAT = "agent-governance-trust-anchor/v1"
PURPOSES = ("evidence", "checkpoint", "bundle", "feed", "token", "batch")

# Records from before the package that it shows.
MAX_BOUNDARIES = 10_000

_path = array(sha256, 64)
_kid = text(200, minimum=1)
_signature = string(200)
_purpose = one_of(*PURPOSES)
_log_place = record({"epoch": POSITIVE, "size": COUNT, "root": sha256})

KEY_ENTRY = record(
    {
        "kid": _kid,
        "purpose": _purpose,
        "jwk": private_free_jwk,
        "valid_from": timestamp,
        "valid_to": nullable(timestamp),
        "revoked_at": nullable(timestamp),
    }
)

_signed = record({"kid": _kid, "signature": _signature})

_rotation = record(
    {
        "statement": record(
            {
                "type": one_of("key_rotation"),
                "v": one_of(1),
                "purpose": _purpose,
                "old_kid": _kid,
                "new_key": record({"kid": _kid, "jwk": private_free_jwk}),
                "valid_from": timestamp,
                "time": timestamp,
            }
        ),
        "signatures": array(_signed, 2, 2),
    }
)

_writer = record(
    {
        "statement": record(
            {
                "type": one_of("writer_key"),
                "v": one_of(1),
                "tenant_id": identifier,
                "stream": identifier,
                "deployment_id": nullable(identifier),
                "kid": _kid,
                "jwk": private_free_jwk,
                "registered_at": timestamp,
                "revoked_at": nullable(timestamp),
            }
        ),
        "kid": _kid,
        "signature": _signature,
    }
)

_log_epoch = record(
    {
        "statement": record(
            {
                "type": one_of("log_epoch"),
                "v": one_of(1),
                "tenant_id": identifier,
                "epoch": integer(2),
                "time": timestamp,
                "restored": _log_place,
                "highest_lost": nullable(_log_place),
            }
        ),
        "kid": _kid,
        "signature": _signature,
    }
)

KEYS = record(
    {
        "keys": array(KEY_ENTRY, 1_000),
        "rotations": array(_rotation, 1_000),
        "writers": array(_writer, 10_000),
        "log_epochs": array(_log_epoch, 1_000),
    }
)

ANCHOR = record(
    {
        "format": one_of(ANCHOR_FORMAT),
        "issuer": text(500),
        "tenant_id": identifier,
        "issued_at": timestamp,
        "keys": array(KEY_ENTRY, 1_000, 1),
        "log": record({"origin": text(300), "epoch": POSITIVE, "size": COUNT, "root": sha256}),
        "witnesses?": array(
            record({"name": pattern(r"[\x21-\x7e]{1,200}"), "key": private_free_jwk}), 50
        ),
        "spec_url": text(2_000),
    }
)

ENVELOPE = record(
    {
        "payloadType": string(200),
        "payload": string(),
        "signatures": array(record({"keyid": string(200), "sig": _signature}), 10, 1),
    }
)

MANIFEST = record(
    {
        "format": one_of(FORMAT),
        "package_id": identifier,
        "set_id": identifier,
        "tenant_id": identifier,
        "issuer": text(500),
        "created_at": timestamp,
        "scope": record(
            {
                "from": timestamp,
                "to": timestamp,
                "filter": nullable(
                    record(
                        {
                            "agent_ids?": array(identifier, 1_000),
                            "workflow_session_id?": identifier,
                        }
                    )
                ),
                "kind": one_of("contiguous", "selective"),
                "include_payloads": boolean,
            }
        ),
        "log": record({"origin": text(300), "epoch": POSITIVE, "start": COUNT, "end": COUNT}),
        "streams": array(
            record(
                {
                    "stream": identifier,
                    "first": record({"epoch": EPOCH, "seq": POSITIVE, "prev_hash": sha256}),
                    "last": record({"epoch": EPOCH, "seq": POSITIVE, "hash": sha256}),
                    "records": POSITIVE,
                }
            ),
            10_000,
        ),
        "files": array(record({"name": text(100), "size": COUNT, "sha256": sha256}), 64),
        "bundles": array(record({"digest": sha256, "revision": POSITIVE}), 10_000),
        "volume": record({"number": POSITIVE, "of": POSITIVE, "previous": nullable(sha256)}),
        "verification_metadata": record(
            {
                "trust_anchor_url": text(2_000),
                "anchor_digest": sha256,
                "spec_url": text(2_000),
                "key_ids": array(text(200), 1_000),
            }
        ),
    }
)

EVENT_PROOF = record({"leaf_index": COUNT, "index": COUNT, "path": _path})

PROOFS = record(
    {
        "range": nullable(record({"start": COUNT, "end": COUNT, "frontier": _path})),
        "leaves": array(record({"leaf_index": COUNT, "path": _path}), 100_000),
        "consistency": array(record({"from": COUNT, "to": COUNT, "path": _path}), 10_000),
        "boundaries": array(
            record({"stream": identifier, "record": string(), "place?": EVENT_PROOF}),
            MAX_BOUNDARIES,
        ),
    }
)

BATCH = record(
    {
        "leaf_index": COUNT,
        "header": record(
            {
                "v": one_of(1),
                "tenant_id": identifier,
                "stream": identifier,
                "epoch": EPOCH,
                "first_seq": POSITIVE,
                "last_seq": POSITIVE,
                "prev_head": sha256,
                "head": sha256,
                "event_root": sha256,
            }
        ),
        "signature": _signature,
    }
)

CAUSE = record({"record": string(), "leaf_index": COUNT, "index": COUNT, "path": _path})

BUNDLE = record(
    {"digest": sha256, "revision": POSITIVE, "manifest": string(), "signatures": string()}
)

PAYLOAD = record(
    {
        "event_id": identifier,
        "part": one_of("input", "result"),
        "salt": pattern(r"[A-Za-z0-9_-]{21}[AQgw]"),
        "payload": string(),
    }
)

WITNESS = record({"size": COUNT, "cosignature": string(1_000)})

UNREAD = record({"unread_record": string()})

# A larger record is shown by its size and the end of its hash.
MAX_SHOWN_BYTES = 512 * 1024

LARGE = record(
    {
        "large_record": record(
            {"size": integer(MAX_SHOWN_BYTES + 1), "state": sha256, "rest": string(84)}
        )
    }
)
