"""Runs every check, and gives the verdict: docs/evidence-format.md, "Checks" and "Verdict"."""

from __future__ import annotations

import hashlib
from typing import Any, BinaryIO, Callable

import checks_bindings as bindings
import checks_keys as keys
import checks_log as log
import checks_records as records
from canonical import canonicalize
from evidence import Evidence, build_evidence
from package import Package, read_package
from tally import Tally
from volumes import VolumeSet


def _time_stamp(_evidence: Evidence) -> Tally:
    return Tally(skipped="no timestamp supplied")


OF_THE_READER: dict[str, Callable[[Package], Tally]] = {
    "container.limits": records.container_limits,
    "container.members": records.container_members,
    "json.strict": records.json_strict,
}

# In the order of reports.
CHECKS: dict[str, Callable[[Evidence], Tally]] = {
    "manifest.signature": keys.manifest_signature,
    "files.digest": records.files_digest,
    "events.canonical": records.events_canonical,
    "events.schema": records.events_schema,
    "tenant.binding": records.tenant_binding,
    "chain.sequence": records.chain_sequence,
    "chain.links": records.chain_links,
    "chain.epochs": records.chain_epochs,
    "chain.start": records.chain_start,
    "chain.head": records.chain_head,
    "batch.signature": log.batch_signature,
    "batch.root": log.batch_root,
    "log.inclusion": log.log_inclusion,
    "log.consistency": log.log_consistency,
    "checkpoint.signature": log.checkpoint_signature,
    "proof.binding": log.proof_binding,
    "witness.quorum": log.witness_quorum,
    "time.stamp": _time_stamp,
    "time.order": records.time_order,
    "keys.anchored": keys.keys_anchored,
    "keys.validity": keys.keys_validity,
    "policy.binding": bindings.policy_binding,
    "payload.digests": bindings.payload_digests,
    "approval.binding": bindings.approval_binding,
    "delegation.binding": bindings.delegation_binding,
    "scope.complete": keys.scope_complete,
}

# They ask which keys were used, and so run after all others.
_LAST = ("keys.anchored", "keys.validity")


def verify(
    source: BinaryIO, anchor: dict[str, Any] | None, volumes: VolumeSet | None = None
) -> dict[str, Any]:
    """Verifies a package.

    Takes its bytes, the anchor if one was given, and the set whose next volume it is. Returns the
    report; a corrupt package gets one, too. Raises OSError if the source does.
    """
    package = read_package(source)
    evidence = build_evidence(package, anchor) if package.manifest else None
    tallies = {name: check(package) for name, check in OF_THE_READER.items()}
    tallies.update(_run(package, evidence))
    if volumes:
        volumes.add(package, evidence)
    checks = [_shown(name, tallies[name]) for name in [*OF_THE_READER, *CHECKS]]
    return {
        "verdict": _verdict(package, anchor, {one["name"]: one["status"] for one in checks}),
        "independence": "independent" if anchor else "self-asserted",
        "anchor_digest": anchor_digest(anchor) if anchor else None,
        "package_id": package.manifest["package_id"] if package.manifest else None,
        "events": len(package.events),
        "checks": checks,
    }


def set_report(volumes: VolumeSet, reports: list[dict[str, Any]]) -> dict[str, Any]:
    """The report on a set: the worst verdict of its volumes, and what they show together."""
    checks = [_shown(name, tally) for name, tally in volumes.end().items()]
    verdicts = {report["verdict"] for report in reports}
    if any(check["status"] == "fail" for check in checks):
        verdicts.add("NOT_VERIFIED")
    worst = ("UNREADABLE", "NOT_VERIFIED", "INCONCLUSIVE", "VERIFIED")
    verdict = next(one for one in worst if one in verdicts)
    return {"verdict": verdict, "checks": checks, "volumes": reports}


def anchor_digest(anchor: dict[str, Any]) -> str:
    """SHA-256 of the RFC 8785 bytes without ``issued_at`` and ``log``."""
    lasting = {name: anchor[name] for name in anchor if name not in ("issued_at", "log")}
    return hashlib.sha256(canonicalize(lasting)).hexdigest()


def _run(package: Package, evidence: Evidence | None) -> dict[str, Tally]:
    if evidence is None:
        return {name: Tally(skipped="nothing could be read") for name in CHECKS}
    tallies: dict[str, Tally] = {}
    for name in sorted(CHECKS, key=_LAST.__contains__):
        tally = _made(CHECKS[name], evidence)
        if not package.is_whole and tally.status != "fail":
            tally.fail("not decided: the package could not be read")
        tallies[name] = tally
    return tallies


def _made(check: Callable[[Evidence], Tally], evidence: Evidence) -> Tally:
    try:
        return check(evidence)
    except Exception as error:  # A check that cannot be run has failed, whatever the reason.
        tally = Tally()
        tally.fail(f"the check could not be made: {type(error).__name__}")
        return tally


def _shown(name: str, tally: Tally) -> dict[str, Any]:
    found = {"fail": tally.failure, "warn": tally.warning}.get(tally.status)
    detail, location = found or (tally.skipped or "", "")
    return {
        "name": name,
        "status": tally.status,
        "detail": detail,
        "location": location,
        "checked": tally.held,
        "total": tally.held + tally.failures + tally.warnings,
    }


def _verdict(package: Package, anchor: dict[str, Any] | None, statuses: dict[str, str]) -> str:
    if package.manifest is None:
        return "UNREADABLE"
    if "fail" in statuses.values():
        return "NOT_VERIFIED"
    if anchor is None or statuses["log.consistency"] != "pass":
        return "INCONCLUSIVE"
    return "VERIFIED"
