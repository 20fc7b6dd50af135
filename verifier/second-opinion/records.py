"""Reads a record: its hash, its place, and what is wrong with its bytes. Never raises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import strict_json
from canonical import canonicalize
from large_record import large_record_hash
from merkle import leaf_hash
from package_forms import LARGE, UNREAD
from record_forms import PLACED, ledger_record
from shapes import FormError, matches
from signatures import from_base64

MAX_RECORD_BYTES = 256 * 1024
_UNREAD_START = b'{"unread_record":'
_LARGE_START = b'{"large_record":'


@dataclass
class Record:
    """A parsed record. ``placed`` and ``valid`` are None if it does not have that form."""

    hash: bytes
    placed: dict[str, Any] | None = None
    valid: dict[str, Any] | None = None
    is_unread: bool = False
    # It is unread, and its bytes are not shown.
    is_too_large: bool = False
    canonical_fault: str | None = None
    schema_fault: str | None = None
    # Set for an event: its line, its batch and its place there, and its chain's faults.
    line: int = 0
    batch: Any = None
    index: int = 0
    chain: dict[str, str] = field(default_factory=dict)
    is_repeated: bool = False
    # The hash of the record before it, as far as that is signed or shown.
    follows: str | None = None


def read_record(data: bytes) -> Record:
    """Reads a line of records."""
    if data.startswith(_UNREAD_START):
        return _read_unread(data)
    if data.startswith(_LARGE_START):
        return _read_large(data)
    record = Record(leaf_hash(data))
    try:
        if len(data) > MAX_RECORD_BYTES:
            raise strict_json.StrictJsonError("the record is too large")
        value = strict_json.parse(
            data, max_nodes=strict_json.RECORD_NODES, exact_numbers=False
        )
    except strict_json.StrictJsonError as error:
        record.canonical_fault = str(error)
        record.schema_fault = "the line is no record"
        return record
    if not _is_canonical(data, value):
        record.canonical_fault = "the record is not in canonical form"
    if matches(PLACED, value):
        record.placed = value
    try:
        ledger_record(value)
        record.valid = value
    except FormError as error:
        record.schema_fault = str(error)
    return record


def _is_canonical(data: bytes, value: Any) -> bool:
    try:
        return canonicalize(value) == data
    except ValueError:
        return False


def _read_unread(data: bytes) -> Record:
    """Bytes that a receiver kept without being able to read them."""
    try:
        value = strict_json.parse(data, max_depth=2, max_nodes=4)
    except strict_json.StrictJsonError:
        value = None
    inner = from_base64(value["unread_record"]) if matches(UNREAD, value) else None
    if inner is None:
        fault = "the line is no record"
        return Record(leaf_hash(data), canonical_fault=fault, schema_fault=fault)
    if _is_readable(inner):
        fault = "the record can be read, and is said to be unreadable"
        return Record(leaf_hash(inner), schema_fault=fault)
    return Record(leaf_hash(inner), is_unread=True)


def _read_large(data: bytes) -> Record:
    """A record that no line can hold: its size alone says that nobody could read it."""
    try:
        value = strict_json.parse(data, max_depth=2, max_nodes=16)
    except strict_json.StrictJsonError:
        value = None
    digest = large_record_hash(value["large_record"]) if matches(LARGE, value) else None
    if digest is None:
        fault = "the line is no record"
        return Record(leaf_hash(data), canonical_fault=fault, schema_fault=fault)
    return Record(digest, is_unread=True, is_too_large=True)


def _is_readable(data: bytes) -> bool:
    if data.startswith(_UNREAD_START):
        return False
    record = read_record(data)
    return record.valid is not None and record.canonical_fault is None
