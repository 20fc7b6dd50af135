"""Forms of the ledger's records: docs/ledger-format.md, "A record"."""

from __future__ import annotations

from typing import Any

from shapes import (
    COUNT,
    EPOCH,
    POSITIVE,
    Form,
    FormError,
    anything,
    array,
    boolean,
    identifier,
    integer,
    nullable,
    number,
    one_of,
    record,
    sha256,
    text,
    timestamp,
)

_text = text()
_id = identifier
_severity = one_of("info", "low", "medium", "high", "critical")
_risk = one_of("low", "medium", "high", "critical")
_object = record({}, is_open=True)
_found = record({"severity": _severity}, is_open=True)
_classed = record({"class": _text, "severity": _severity}, is_open=True)
_any_integer = integer(-(2**53 - 1))


def _list(item: Form) -> Form:
    return array(item, 1_000)


PLACE = {
    "tenant_id": _id,
    "stream": _id,
    "epoch": EPOCH,
    "seq": POSITIVE,
    "prev_hash": sha256,
    "timestamp": timestamp,
}

_ENVELOPE = {**PLACE, "id": _id, "type": _text, "bundle_revision": nullable(COUNT)}

_previous = {"epoch": EPOCH, "last_seq": POSITIVE, "head": sha256}

# The members that place a record, whatever else it says.
PLACED = record({**PLACE, "previous?": nullable(record(_previous, is_open=True))}, is_open=True)


def _actor(*roles: str) -> Form:
    return record(
        {"id": _text, "username": _text, "role": one_of(*roles), "break_glass": boolean}
    )


_actor_2 = _actor("admin", "approver", "auditor", "super_admin", "system", "data_plane")

_EPOCH_START: dict[str, Form] = {
    "previous": nullable(record(_previous)),
    "reason": one_of("created", "boot", "restore"),
    "writer_version": _text,
}

_DECISION: dict[str, Form] = {
    "agent_id": _id,
    "action": _text,
    "target": _text,
    "method": _text,
    "tool_name": _text,
    "mcp_server": _text,
    "policy_result": one_of("allow", "deny", "escalate", "dlp_block"),
    "policy_reason": nullable(_text),
    "decided_by": _text,
    "behavioral_score": number(),
    "risk_tier": _risk,
    "dlp_action": nullable(one_of("blocked", "warned", "logged")),
    "dlp_findings_count": COUNT,
    "dlp_findings": _list(_found),
    "latency_ms": number(0),
    "session_id": nullable(_text),
    "workflow_session_id": nullable(_id),
    "causal_depth": COUNT,
    "parent_event_id": nullable(_id),
    "delegation_chain": _list(_id),
    "requester_id": nullable(_text),
    "requester_verified": boolean,
    "instruction_hash": sha256,
    "region": nullable(_text),
}

_DECISION_2: dict[str, Form] = {
    **_DECISION,
    "escalation_id": nullable(_id),
    "grant_id": nullable(_id),
    "exception_id": nullable(_id),
    "payload_digest": nullable(sha256),
    "protected_fields": _list(one_of("target", "policy_reason", "requester_id")),
    "model": nullable(
        record(
            {
                "name": nullable(_text),
                "has_system_prompt": boolean,
                "has_tools": boolean,
                "message_count": COUNT,
            }
        )
    ),
}

_OUTCOMES = (
    "forwarded",
    "tool_error",
    "upstream_error",
    "upstream_timeout",
    "result_too_large",
    "cancelled",
    "blocked",
    "outcome_unknown",
)

_OUTCOME: dict[str, Form] = {
    "event_id": _id,
    "outcome": one_of(*_OUTCOMES),
    "latency_ms": nullable(number(0)),
    "result_digest": nullable(sha256),
    "result_bytes": nullable(COUNT),
    "inbound_findings_count": COUNT,
    "detail": nullable(_text),
}

_OUTCOME_2: dict[str, Form] = {
    **_OUTCOME,
    "outcome": one_of(*_OUTCOMES, "held"),
    "payload_digest": nullable(sha256),
    "result_action": nullable(one_of("allowed", "blocked", "replaced", "held")),
    "inspection": nullable(
        record(
            {
                "step": nullable(_text),
                "inbound_findings": _list(_classed),
                "dlp_findings_count": COUNT,
                "dlp_findings": _list(_found),
                "replacement_digest": nullable(sha256),
                "escalation_id": nullable(_id),
            }
        )
    ),
    "model_usage": nullable(
        record(
            {
                "status": nullable(_any_integer),
                "input_tokens": nullable(COUNT),
                "output_tokens": nullable(COUNT),
                "finish_reason": nullable(_text),
            }
        )
    ),
}

_ALERT: dict[str, Form] = {
    "alert_type": _text,
    "severity": _severity,
    "agent_id": nullable(_id),
    "title": _text,
    "details": _object,
    "dedupe_key": nullable(_text),
}

_ADMIN: dict[str, Form] = {
    "actor": _actor("admin", "super_admin", "system", "data_plane"),
    "action": _text,
    "target": _text,
    "details": _object,
}

_BOUND_CALL: dict[str, Form] = {
    "agent_id": _id,
    "requester_id": nullable(_text),
    "mcp_server": _text,
    "method": _text,
    "tool_name": _text,
    "instruction_hash": sha256,
}

_HOLD_OPENED: dict[str, Form] = {
    **_BOUND_CALL,
    "escalation_id": _id,
    "event_id": _id,
    "held": one_of("call", "result"),
    "target": _text,
    "risk_tier": _risk,
    "reason": nullable(_text),
    "timeout_at": timestamp,
    "binding?": nullable(sha256),
    "shape?": nullable(record({"policy_ids": _list(_text), "resource": _text})),
}

_RESULT_HELD: dict[str, Form] = {
    **_BOUND_CALL,
    "escalation_id": _id,
    "event_id": _id,
    "target": _text,
    "risk_tier": _risk,
    "severity": _severity,
    "findings": _list(_classed),
    "findings_count": POSITIVE,
    "result_bytes": COUNT,
    "timeout_at": timestamp,
    "binding?": nullable(sha256),
}

_HOLD_RESOLVED: dict[str, Form] = {
    "escalation_id": _id,
    "event_id": _id,
    "resolution": one_of(
        "approved", "denied", "timed_out", "result_allowed", "result_sanitized", "result_blocked"
    ),
    "resolved_at": timestamp,
    "resolved_by": nullable(_actor_2),
    "notes": nullable(_text),
    "grant": nullable(record({"id": _id, "expires_at": timestamp, **_BOUND_CALL})),
}

_RATE_LIMITED: dict[str, Form] = {
    "agent_id": _id,
    "refused": POSITIVE,
    "since": timestamp,
    "until": timestamp,
    "limit": POSITIVE,
    "window_seconds": POSITIVE,
    "risk_tier": _risk,
}

_ANSWER_STARTED: dict[str, Form] = {"event_id": _id, "status": COUNT}

_TYPES: dict[int, dict[str, dict[str, Form]]] = {
    1: {
        "epoch_start": _EPOCH_START,
        "decision": _DECISION,
        "outcome": _OUTCOME,
        "alert": _ALERT,
        "admin_action": _ADMIN,
    },
    2: {
        "epoch_start": _EPOCH_START,
        "decision": _DECISION_2,
        "outcome": _OUTCOME_2,
        "alert": _ALERT,
        "admin_action": {**_ADMIN, "actor": _actor_2},
        "hold_opened": _HOLD_OPENED,
        "hold_resolved": _HOLD_RESOLVED,
        "rate_limited": _RATE_LIMITED,
        "result_held": _RESULT_HELD,
        "answer_started": _ANSWER_STARTED,
    },
}

_FORMS = {
    (version, name): record({**_ENVELOPE, "v": anything, **members})
    for version, types in _TYPES.items()
    for name, members in types.items()
}


def ledger_record(value: Any) -> None:
    """A record of a known version. Raises FormError."""
    if not isinstance(value, dict):
        raise FormError("it is no record")
    version, name = value.get("v"), value.get("type")
    if not isinstance(version, int) or isinstance(version, bool) or not isinstance(name, str):
        raise FormError("it is no record")
    form = _FORMS.get((version, name))
    if form is None:
        raise FormError("it is no record of a known version")
    form(value)
