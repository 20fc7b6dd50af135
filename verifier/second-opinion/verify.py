"""Verifies evidence packages by docs/evidence-format.md alone, sharing no code with the product.

    python3 verify.py PACKAGE... --trust-anchor anchor.json [--set] [--json]

Exit codes: 0 VERIFIED; 1 NOT_VERIFIED; 2 UNREADABLE, or the arguments cannot be read;
3 INCONCLUSIVE. Of several packages the worst counts; with --set they are the volumes of one
export, in order, and have to be a whole set.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import strict_json
from package_forms import ANCHOR
from report import set_report, verify
from shapes import matches
from volumes import VolumeSet

# Worst first.
EXIT_CODES = {"UNREADABLE": 2, "NOT_VERIFIED": 1, "INCONCLUSIVE": 3, "VERIFIED": 0}
_MAX_SHOWN = 300


def main(arguments: list[str]) -> int:
    """Runs the command. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Verifies evidence packages.")
    parser.add_argument("packages", nargs="+", metavar="PACKAGE")
    parser.add_argument("--trust-anchor", metavar="FILE")
    parser.add_argument("--set", action="store_true", help="they are the volumes of one export")
    parser.add_argument("--json", action="store_true", help="print reports as JSON")
    options = parser.parse_args(arguments)
    try:
        anchor = _read_anchor(options.trust_anchor) if options.trust_anchor else None
        volumes = VolumeSet() if options.set else None
        reports = [_verify_file(path, anchor, volumes) for path in options.packages]
    except (OSError, ValueError) as error:
        print(_ascii(str(error)), file=sys.stderr)
        return 2
    shown = set_report(volumes, reports) if volumes else None
    if options.json:
        print(json.dumps(shown or reports, indent=2))
    else:
        for report in reports:
            _print_report(report)
        if shown:
            _print_checks(shown["checks"])
            print(f"SET: {shown['verdict']}")
    verdicts = {report["verdict"] for report in [*reports, *([shown] if shown else [])]}
    return next(code for verdict, code in EXIT_CODES.items() if verdict in verdicts)


def _read_anchor(path: str) -> dict[str, Any]:
    with open(path, "rb") as source:
        data = source.read()
    # Editors write a byte order mark.
    data = data.removeprefix(b"\xef\xbb\xbf")
    anchor: dict[str, Any] = strict_json.parse(data, max_depth=16)
    if not matches(ANCHOR, anchor):
        raise ValueError(f"{path} is no trust anchor")
    keys = [(key["purpose"], key["kid"]) for key in anchor["keys"]]
    if len(set(keys)) < len(keys):
        raise ValueError(f"{path} names a key twice")
    return anchor


def _verify_file(
    path: str, anchor: dict[str, Any] | None, volumes: VolumeSet | None
) -> dict[str, Any]:
    with open(path, "rb") as source:
        return {"file": path, **verify(source, anchor, volumes)}


def _print_report(report: dict[str, Any]) -> None:
    print(f"VERDICT: {report['verdict']}")
    digest = f" (anchor sha256:{report['anchor_digest']})" if report["anchor_digest"] else ""
    print(f"INDEPENDENCE: {report['independence']}{digest}")
    print(f"PACKAGE: {report['package_id'] or '-'}  EVENTS: {report['events']}")
    _print_checks(report["checks"])


def _print_checks(checks: list[dict[str, Any]]) -> None:
    for check in checks:
        said = " ".join(part for part in (check["detail"], check["location"]) if part)
        count = "" if check["status"] == "skip" else f" {check['checked']}/{check['total']}"
        print(_ascii(f"[{check['status'].upper()}] {check['name']}{count} {said}".rstrip()))


def _ascii(text: str) -> str:
    """Printable ASCII, so that no package can print a verdict of its own."""
    shown = (c if " " <= c <= "~" else f"\\u{{{ord(c):x}}}" for c in text[:_MAX_SHOWN])
    return "".join(shown)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
