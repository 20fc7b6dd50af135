"""Checks of what decisions refer to: bundles, payloads, approvals and delegations."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any, Iterator

from bundles import read_bundle
from disputes import warning_of
from evidence import Evidence
from keys import SKEW, Key, Use
from records import Record
from shapes import matches, milliseconds, nullable, record, string, timestamp
from signatures import from_base64url
from tally import Tally

_string = string()
# Approvals and delegated calls that a volume may have, each.
_MAX_BOUND = 100_000

_APPROVAL = record(
    {
        "event_id": _string,
        "agent_id": _string,
        "mcp_server": _string,
        "tool_name": _string,
        "deployment_id": _string,
        "instruction_hash": _string,
        "grant_id": _string,
        "grant_expires_at": timestamp,
    },
    is_open=True,
)

# Where a person lets a held call pass, or a held result reach its agent: the target's kind, by action.
# The record of the hold has a type for each kind.
_HELD = {"hold_opened": "escalation", "result_held": "inbound_hold"}
_APPROVED = {
    "escalation_approved": "escalation",
    "inbound_hold_allowed_original": "inbound_hold",
    "inbound_hold_allowed_sanitized": "inbound_hold",
}

_ISSUED = record(
    {
        "workflow_session_id": _string,
        "parent_delegation_id": nullable(_string),
        "delegator_agent_id": _string,
        "delegatee_agent_id": _string,
        "expires_at": timestamp,
    },
    is_open=True,
)


def _decisions(evidence: Evidence) -> Iterator[tuple[Record, dict[str, Any]]]:
    for one in evidence.package.events:
        if one.valid and one.valid["type"] == "decision":
            yield one, one.valid


def policy_binding(evidence: Evidence) -> Tally:
    """Every revision that a decision names is a bundle signed for the tenant."""
    tally = Tally()
    # The first decision by each.
    named: dict[int, tuple[str, dict[str, Any]]] = {}
    # Decisions by bundles that the manifest does not list: each may have been disputed.
    unlisted: list[tuple[int, Record]] = []
    listed = {one["revision"]: one["digest"] for one in evidence.manifest["bundles"]}
    for one, decision in _decisions(evidence):
        revision = decision["bundle_revision"]
        if revision is None:
            continue
        location = f"events.ndjson line {one.line}"
        named.setdefault(revision, (location, decision))
        if revision not in listed and len(unlisted) < _MAX_BOUND:
            unlisted.append((revision, one))
        elif revision not in listed:
            fault = "there are more decisions without a bundle than a volume may have"
            tally.fail(fault, location)
    shown: dict[int, str] = {}
    tenant = evidence.manifest["tenant_id"]
    for line, value in evidence.package.bundles:
        revision, location = value["revision"], f"bundles.ndjson line {line}"
        try:
            if revision in shown:
                raise ValueError("the bundle is there twice")
            signed = (value["manifest"], value["signatures"], tenant)
            kid, manifest = read_bundle(evidence.keyset, *signed)
            if manifest["revision"] != str(revision):
                raise ValueError("the bundle is of another revision")
            key = evidence.keyset.find("bundle", kid)
            # A bundle that no decision names vouches for nothing.
            first = named.get(revision, ("", {"timestamp": "", "stream": None}))[1]
            at, stream = first["timestamp"], first["stream"]
            if key:
                evidence.uses.append(Use(key, location, vouches_for=at, decided_by=stream))
        except ValueError as error:
            tally.fail(str(error), location)
        shown[revision] = value["digest"]
    worst = _worst(evidence, unlisted)
    for revision, (location, _) in named.items():
        digest = shown.get(revision)
        if digest is None and revision in worst:
            record = worst[revision]
            evidence.disputes.judge(tally, "policy.binding", record, "the bundle is not shown")
            continue
        holds = digest is not None and listed.get(revision) == digest
        tally.hold(holds, "the bundle is not shown, or is another than the manifest's", location)
    return tally


def _worst(evidence: Evidence, unlisted: list[tuple[int, Record]]) -> dict[int, Record]:
    """By revision, a decision that was not disputed; if there is none, the first."""
    worst: dict[int, Record] = {}
    for revision, one in unlisted:
        known = worst.setdefault(revision, one)
        if evidence.disputes.is_disputed("policy.binding", known):
            if not evidence.disputes.is_disputed("policy.binding", one):
                worst[revision] = one
    return worst


def payload_digests(evidence: Evidence) -> Tally:
    """Each payload is the one whose digest is in the chain."""
    tally = Tally()
    has_payloads = evidence.manifest["scope"]["include_payloads"]
    if not has_payloads:
        tally.skip("the package has no payloads")
    digests = _chained_digests(evidence) if has_payloads else Counter()
    if digests.total() > _MAX_BOUND:
        tally.fail("there are more payloads than a volume may have", "events.ndjson")
    for line, value in evidence.package.payloads:
        salt = from_base64url(value["salt"])
        data = (salt or b"") + value["payload"].encode("utf-8")
        place = (value["event_id"], value["part"], hashlib.sha256(data).hexdigest())
        holds = salt is not None and digests[place] > 0
        if holds:
            digests[place] -= 1
        location = f"payloads.ndjson line {line}"
        tally.hold(holds, "no record names this payload", location)
    return tally


def _chained_digests(evidence: Evidence) -> Counter[tuple[str, str, str]]:
    """How many records name each: data planes may give an event id twice."""
    digests: Counter[tuple[str, str, str]] = Counter()
    for one in evidence.package.events:
        value = one.valid or {}
        digest = value.get("payload_digest")
        if digest is not None and value["type"] == "decision":
            digests[(value["id"], "input", digest)] += 1
        elif digest is not None:
            digests[(value["event_id"], "result", digest)] += 1
    return digests


def _signed_records(
    evidence: Evidence, *, with_repeats: bool
) -> Iterator[tuple[dict[str, Any], Key | None]]:
    """Every record, with the key that signed it; a selective package's event, with its stream's."""
    for one in evidence.package.events:
        if one.valid and (with_repeats or not one.is_repeated):
            signer = one.batch.signer if one.batch else None
            yield one.valid, signer or evidence.signers.get(one.valid["stream"])
    for (_, value), one in evidence.package.causes:
        batch = evidence.batches.get(value["leaf_index"])
        if one.valid:
            yield one.valid, batch.signer if batch else None


def _admin_actions(
    evidence: Evidence, kinds: dict[str, str], *, with_repeats: bool
) -> Iterator[tuple[tuple[str, str], str, dict[str, Any]]]:
    """Actions in the admin chain: the target's kind and id, the time, and the details.

    `kinds` are those of the targets, by action.
    """
    for value, signer in _signed_records(evidence, with_repeats=with_repeats):
        if value["type"] != "admin_action" or value["action"] not in kinds:
            continue
        kind = kinds[value["action"]]
        # A data plane's stream cannot claim administrators' actions.
        if signer and signer.purpose == "batch" and value["target"].startswith(f"{kind}/"):
            target = value["target"].removeprefix(f"{kind}/")
            yield (kind, target), value["timestamp"], value["details"]


def approval_binding(evidence: Evidence) -> Tally:
    """Each call that an approval let pass is the approved one, in time, and passed once."""
    tally = Tally()
    approvals = {
        details["grant_id"]: {**details, "kind": kind, "escalation_id": escalation_id, "at": at}
        for (kind, escalation_id), at, details in _admin_actions(
            evidence, _APPROVED, with_repeats=False
        )
        if matches(_APPROVAL, details)
    }
    holds = _Holds(evidence)
    # A use that is at fault uses nothing up; one of another hold does.
    used_up: set[tuple[str, str]] = set()
    for record, call in _uses(evidence, tally):
        use = (call["stream"], call["grant_id"])
        approval = approvals.get(call["grant_id"])
        fault = _approval_fault(call, approval)
        if fault is None and use in used_up:
            fault = "an approval was used twice"
        hold = "same"
        if fault is None and approval is not None:
            used_up.add(use)
            hold = holds.of(approval)
        if hold == "disputed":
            location = f"events.ndjson line {record.line}"
            tally.warn(warning_of(record, _OF_ANOTHER_HOLD), location)
            continue
        if hold == "other":
            fault = _OF_ANOTHER_HOLD
        evidence.disputes.judge(tally, "approval.binding", record, fault)
    return tally


def _uses(evidence: Evidence, tally: Tally) -> list[tuple[Record, dict[str, Any]]]:
    """The calls that use approvals, the undisputed ones first.

    A batch may repeat a sound use behind a disputed one, where the package begins between them.
    """
    uses: list[tuple[Record, dict[str, Any]]] = []
    # By stream, and by record: the same one repeated is one use.
    known: set[tuple[str, str, bytes]] = set()
    for record, call in _decisions(evidence):
        grant = call.get("grant_id")
        if grant is None:
            continue
        use = (call["stream"], grant, record.hash)
        # A repeated place may hold another call where the record after it could not be read.
        if record.is_repeated and use in known:
            continue
        if len(uses) >= _MAX_BOUND:
            location = f"events.ndjson line {record.line}"
            tally.fail("there are more approvals than a volume may have", location)
            continue
        known.add(use)
        uses.append((record, call))
    disputes = evidence.disputes
    return sorted(uses, key=lambda use: disputes.is_disputed("approval.binding", use[0]))


_OF_ANOTHER_HOLD = "the approval is of another hold"


class _Holds:
    """The holds that are shown, by stream and id: kind, event and instruction of each.

    By stream: another data plane may name an escalation that is not its own.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._undisputed: dict[tuple[str, str], set[tuple[str, str, str]]] = {}
        self._disputed: dict[tuple[str, str], set[tuple[str, str, str]]] = {}
        # A hold of before the package may be shown only where a batch repeats it.
        events = [(one, one.batch) for one in evidence.package.events]
        causes = [
            (one, evidence.batches[value["leaf_index"]])
            for (_, value), one in evidence.package.causes
            if value["leaf_index"] in evidence.batches
        ]
        for one, batch in [*events, *causes]:
            value = one.valid
            if value is None or value["type"] not in _HELD:
                continue
            is_disputed = evidence.disputes.is_disputed("approval.binding", one, batch)
            among = self._disputed if is_disputed else self._undisputed
            form = (_HELD[value["type"]], value["event_id"], value["instruction_hash"])
            among.setdefault((value["stream"], value["escalation_id"]), set()).add(form)

    def of(self, approval: dict[str, Any]) -> str:
        """Whether an approval is of its hold. Disputed ones count where there is no other."""
        key = (approval["deployment_id"], approval["escalation_id"])
        form = (approval["kind"], approval["event_id"], approval["instruction_hash"])
        if key in self._undisputed:
            return "same" if form in self._undisputed[key] else "other"
        return "same" if form in self._disputed.get(key, {form}) else "disputed"


def _approval_fault(call: dict[str, Any], approval: dict[str, Any] | None) -> str | None:
    if approval is None:
        return "the approval is not shown"
    same = all(call[name] == approval[name] for name in ("agent_id", "mcp_server", "tool_name"))
    if not same or call["stream"] != approval["deployment_id"]:
        return "another call was approved"
    if milliseconds(call["timestamp"]) < milliseconds(approval["at"]) - SKEW:
        return "the approval came after the call"
    if milliseconds(call["timestamp"]) > milliseconds(approval["grant_expires_at"]) + SKEW:
        return "the approval was over"
    return None


def delegation_binding(evidence: Evidence) -> Tally:
    """Each chain of delegations was issued link by link, and ends with the agent that acted."""
    tally = Tally()
    issued = {
        delegation_id: {**details, "at": at}
        for (_, delegation_id), at, details in _admin_actions(
            evidence, {"delegation_issued": "delegation"}, with_repeats=True
        )
        if matches(_ISSUED, details)
    }
    acted = 0
    for record, decision in _decisions(evidence):
        if decision["delegation_chain"]:
            acted += 1
            if acted > _MAX_BOUND:
                location = f"events.ndjson line {record.line}"
                tally.fail("there are more delegated calls than a volume may have", location)
                break
            fault = _delegation_fault(decision, issued)
            evidence.disputes.judge(tally, "delegation.binding", record, fault)
    return tally


def _delegation_fault(decision: dict[str, Any], issued: dict[str, Any]) -> str | None:
    parent: str | None = None
    delegatee: str | None = None
    for delegation_id in decision["delegation_chain"]:
        link = issued.get(delegation_id)
        if link is None:
            return "a delegation is not shown"
        if link["parent_delegation_id"] != parent:
            return "a link is of another chain"
        if delegatee is not None and link["delegator_agent_id"] != delegatee:
            return "a delegator was not delegated to"
        if link["workflow_session_id"] != decision["workflow_session_id"]:
            return "a delegation is of another session"
        # A denial may be due to its expiry.
        if decision["policy_result"] == "allow":
            acted = milliseconds(decision["timestamp"])
            if acted < milliseconds(link["at"]) - SKEW:
                return "a delegation was issued after the call"
            if acted > milliseconds(link["expires_at"]) + SKEW:
                return "a delegation was over"
        parent, delegatee = delegation_id, link["delegatee_agent_id"]
    return None if delegatee == decision["agent_id"] else "another agent was delegated to"
