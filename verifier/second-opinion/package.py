"""Reads a whole package, as far as it can be read, and remembers what could not be."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Callable, Iterator

import strict_json
from canonical import canonicalize
from container import DOCUMENT_BYTES, ArchiveError, Member, TooLargeError, members_of
from merkle import leaf_hash
from note import Checkpoint, read_checkpoint
from package_forms import (
    BATCH,
    BUNDLE,
    CAUSE,
    ENVELOPE,
    EVENT_PROOF,
    KEYS,
    MANIFEST,
    PAYLOAD,
    PROOFS,
    WITNESS,
)
from records import Record, read_record
from shapes import Form, matches
from signatures import from_base64

ORDER = (
    "manifest.dsse.json",
    "keys.json",
    "checkpoints/",
    "proofs.json",
    "batches.ndjson",
    "events.ndjson",
    "event-proofs.ndjson",
    "causes.ndjson",
    "bundles.ndjson",
    "payloads.ndjson",
    "witness.ndjson",
)
REQUIRED = ("manifest.dsse.json", "keys.json", "proofs.json", "batches.ndjson", "events.ndjson")
MAX_MEMBERS = 64
LINE_BYTES = 1024 * 1024
_LINES = {
    "batches.ndjson": 100_000,
    "causes.ndjson": 100_000,
    "payloads.ndjson": 100_000,
    "bundles.ndjson": 10_000,
    "witness.ndjson": 1_000,
}
_MAX_LINES = 1_000_000
MAX_UNREAD = 100_000
_CHECKPOINT = re.compile(r"checkpoints/(0|[1-9][0-9]{0,15})\.note")


@dataclass
class Batch:
    """A line of batches.ndjson."""

    line: int
    leaf_index: int
    leaf: bytes
    header: dict[str, Any]
    signature: str
    # Set by the checks: the key whose signature holds, and whether it lies in the range.
    signer: Any = None
    is_in_range: bool = False

    @property
    def count(self) -> int:
        """The number of records that it claims to have."""
        return int(self.header["last_seq"] - self.header["first_seq"] + 1)


Line = tuple[int, dict[str, Any]]


@dataclass
class Package:
    """What was read. ``ended`` names the members of lines that were read to the end."""

    problems: list[tuple[str, str, str]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    digests: dict[str, tuple[int, str]] = field(default_factory=dict)
    envelope: dict[str, Any] | None = None
    manifest: dict[str, Any] | None = None
    payload: bytes = b""
    keys: dict[str, Any] = field(
        default_factory=lambda: {"keys": [], "rotations": [], "writers": [], "log_epochs": []}
    )
    checkpoints: dict[int, Checkpoint] = field(default_factory=dict)
    proofs: dict[str, Any] = field(
        default_factory=lambda: {"range": None, "leaves": [], "consistency": [], "boundaries": []}
    )
    batches: list[Batch] = field(default_factory=list)
    events: list[Record] = field(default_factory=list)
    unread: int = 0
    event_proofs: list[Line] = field(default_factory=list)
    causes: list[tuple[Line, Record]] = field(default_factory=list)
    bundles: list[Line] = field(default_factory=list)
    payloads: list[Line] = field(default_factory=list)
    witness: list[Line] = field(default_factory=list)
    documents: int = 0
    ended: set[str] = field(default_factory=set)
    # False if the archive itself broke off: then no check that passed so far is decided.
    is_whole: bool = False

    def problem(self, check: str, detail: str, location: str = "") -> None:
        """Remembers what could not be read, and the check that reports it."""
        self.problems.append((check, detail, location))


class _Stop(Exception):
    """Nothing after this can be read."""


def read_package(source: BinaryIO) -> Package:
    """Reads a package. Raises only OSError."""
    package = Package()
    try:
        for member in members_of(source):
            _read_member(package, member)
        package.is_whole = True
    except _Stop:
        package.is_whole = True
    except TooLargeError as error:
        package.problem("container.limits", str(error))
    except ArchiveError as error:
        package.problem("container.members", str(error))
    # A missing member ends where it would begin.
    package.ended.update({"batches.ndjson", "events.ndjson"} - set(package.names))
    return package


def place_of(name: str) -> tuple[int, int] | None:
    """A member's place in the order, checkpoints by size; None for an unknown name."""
    checkpoint = _CHECKPOINT.fullmatch(name)
    if checkpoint:
        return ORDER.index("checkpoints/"), int(checkpoint.group(1))
    return (ORDER.index(name), 0) if name in ORDER and not name.endswith("/") else None


def _misplaced(name: str, before: list[str]) -> str | None:
    place = place_of(name)
    if place is None:
        return "a member has a name that the format does not know"
    if not before and place[0] > 0:
        return "the manifest is not the first member"
    if name in before:
        return "a member is there twice"
    if len(before) >= MAX_MEMBERS:
        return "there are too many members"
    last = place_of(before[-1]) if before else None
    return "a member is out of order" if last is not None and place < last else None


def _read_member(package: Package, member: Member) -> None:
    fault = _misplaced(member.name, package.names)
    if fault is not None:
        package.problem("container.members", fault, member.name)
        raise _Stop
    package.names.append(member.name)
    digest = hashlib.sha256()

    def content() -> Iterator[bytes]:
        for piece in member.content:
            digest.update(piece)
            yield piece

    if member.name.endswith(".ndjson"):
        if package.manifest is not None:
            _read_lines(package, member.name, content())
    else:
        _read_document(package, member, content())
    for _ in content():
        pass
    if package.manifest is None:
        raise _Stop
    package.digests[member.name] = (member.size, digest.hexdigest())


def _read_document(package: Package, member: Member, content: Iterator[bytes]) -> None:
    if member.size > DOCUMENT_BYTES:
        package.problem("container.limits", "the member is too large", member.name)
        return
    name, data = member.name, b"".join(content)
    if name == "manifest.dsse.json":
        _read_manifest(package, data)
    elif name == "keys.json":
        package.keys = _parse(package, KEYS, data, name) or package.keys
    elif name == "proofs.json":
        package.proofs = _parse(package, PROOFS, data, name) or package.proofs
    else:
        size = int(name.removeprefix("checkpoints/").removesuffix(".note"))
        try:
            package.checkpoints[size] = read_checkpoint(data)
        except ValueError as error:
            package.problem("json.strict", str(error), name)


def _read_manifest(package: Package, data: bytes) -> None:
    name = "manifest.dsse.json"
    envelope = _parse(package, ENVELOPE, data, name)
    if envelope is None:
        return
    payload = from_base64(envelope["payload"])
    if payload is None:
        package.problem("json.strict", "the payload of the envelope cannot be read", name)
        return
    manifest = _parse(package, MANIFEST, payload, name)
    if manifest is None:
        return
    if canonicalize(manifest) != payload:
        package.problem("json.strict", "the manifest is not in canonical form", name)
    package.envelope, package.manifest, package.payload = envelope, manifest, payload


def _read_lines(package: Package, name: str, content: Iterator[bytes]) -> None:
    read = _READERS[name]
    for line, data in enumerate(_lines(package, name, content), 1):
        if line > _LINES.get(name, _MAX_LINES):
            detail = "there are more lines than a volume may have"
            package.problem("container.limits", detail, f"{name} line {line}")
            break
        read(package, line, data)
    package.ended.add(name)


def _lines(package: Package, name: str, content: Iterator[bytes]) -> Iterator[bytes]:
    held = b""
    for piece in content:
        *whole, held = (held + piece).split(b"\n")
        yield from (_bounded(package, name, line) for line in whole)
        _bounded(package, name, held)
    if held:
        package.problem("json.strict", "the last line has no line feed", name)
        yield held


def _bounded(package: Package, name: str, line: bytes) -> bytes:
    if len(line) > LINE_BYTES:
        package.problem("container.limits", "a line is too long", name)
        raise _Stop
    return line


def _parse(
    package: Package, form: Form, data: bytes, location: str, nodes: int | None = None
) -> dict[str, Any] | None:
    try:
        value = strict_json.parse(data, max_nodes=nodes or strict_json.DOCUMENT_NODES)
    except strict_json.StrictJsonError as error:
        package.problem("json.strict", str(error), location)
        return None
    if not matches(form, value):
        package.problem("json.strict", "it is not of the format", location)
        return None
    package.documents += 1
    parsed: dict[str, Any] = value
    return parsed


Reader = Callable[[Package, int, bytes], None]


def _reader(name: str, form: Form, keep: Callable[[Package, Line], None]) -> Reader:
    def read(package: Package, line: int, data: bytes) -> None:
        value = _parse(package, form, data, f"{name} line {line}", strict_json.LINE_NODES)
        if value is not None:
            keep(package, (line, value))

    return read


def _keep_batch(package: Package, found: Line) -> None:
    line, value = found
    header, signature = value["header"], value["signature"]
    leaf = leaf_hash(canonicalize({"header": header, "signature": signature}))
    package.batches.append(Batch(line, value["leaf_index"], leaf, header, signature))


def _keep_cause(package: Package, found: Line) -> None:
    record = read_record(found[1]["record"].encode("utf-8"))
    record.line = found[0]
    package.causes.append((found, record))


def _read_event(package: Package, line: int, data: bytes) -> None:
    record = read_record(data)
    record.line = line
    package.events.append(record)
    package.unread += record.is_unread
    if record.is_unread and package.unread == MAX_UNREAD + 1:
        detail = "there are more unread records than a volume may have"
        package.problem("container.limits", detail, f"events.ndjson line {line}")


_READERS: dict[str, Reader] = {
    "batches.ndjson": _reader("batches.ndjson", BATCH, _keep_batch),
    "events.ndjson": _read_event,
    "event-proofs.ndjson": _reader(
        "event-proofs.ndjson", EVENT_PROOF, lambda package, line: package.event_proofs.append(line)
    ),
    "causes.ndjson": _reader("causes.ndjson", CAUSE, _keep_cause),
    "bundles.ndjson": _reader(
        "bundles.ndjson", BUNDLE, lambda package, line: package.bundles.append(line)
    ),
    "payloads.ndjson": _reader(
        "payloads.ndjson", PAYLOAD, lambda package, line: package.payloads.append(line)
    ),
    "witness.ndjson": _reader(
        "witness.ndjson", WITNESS, lambda package, line: package.witness.append(line)
    ),
}
