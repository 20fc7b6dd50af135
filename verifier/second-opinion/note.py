"""Checkpoints of the log (C2SP tlog-checkpoint) as signed notes, and cosignatures of witnesses."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from shapes import matches, timestamp
from signatures import Jwk, ed25519_bytes, from_base64, is_signed
from strict_json import utf16_length

_DASH = "\u2014"
_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")
_MAX_LENGTH = 64 * 1024
_MAX_SIGNATURES = 100
_ED25519 = b"\x01"
_COSIGNATURE = b"\x04"


@dataclass(frozen=True)
class NoteSignature:
    """A line below a note: whose, with which key, and the signature's bytes."""

    name: str
    key_hash: bytes
    data: bytes


@dataclass(frozen=True)
class Checkpoint:
    """A parsed checkpoint. ``body`` is what is signed."""

    origin: str
    size: int
    root: bytes
    time: str
    body: str
    signatures: tuple[NoteSignature, ...]


def log_origin(tenant_id: str, epoch: int) -> str:
    """The name of a tenant's log."""
    return f"agent-governance/log/{tenant_id}/{epoch}"


def read_checkpoint(data: bytes) -> Checkpoint:
    """Reads a note. Raises ValueError if it does not have this form."""
    text = data.decode("utf-8")
    body, separator, below = text.partition("\n\n")
    if not separator or not text.endswith("\n") or utf16_length(text) > _MAX_LENGTH:
        raise ValueError("the note has no signatures")
    lines = body.split("\n")
    if len(lines) != 4:
        raise ValueError("the note has other lines than a checkpoint")
    origin, size, root_text, time_text = lines
    root = from_base64(root_text)
    time = time_text.removeprefix("time ")
    if not origin or not _SIZE.fullmatch(size) or int(size) >= 2**53:
        raise ValueError("the note is no checkpoint")
    if root is None or len(root) != 32 or f"time {time}" != time_text:
        raise ValueError("the note is no checkpoint")
    if not matches(timestamp, time):
        raise ValueError("the note has no time")
    signed = below[:-1].split("\n")
    if len(signed) > _MAX_SIGNATURES:
        raise ValueError("the note has too many signatures")
    signatures = tuple(read_signature(line) for line in signed)
    return Checkpoint(origin, int(size), root, time, f"{body}\n", signatures)


def read_signature(line: str) -> NoteSignature:
    """Reads a signature line. Raises ValueError."""
    parts = line.split(" ")
    if len(parts) != 3 or parts[0] != _DASH or not parts[1]:
        raise ValueError("the line is no signature of a note")
    data = from_base64(parts[2])
    if data is None or len(data) < 5:
        raise ValueError("the line is no signature of a note")
    return NoteSignature(parts[1], data[:4], data[4:])


def _key_hash(name: str, kind: bytes, key: bytes) -> bytes:
    return hashlib.sha256(name.encode("utf-8") + b"\n" + kind + key).digest()[:4]


def is_checkpoint_signed(checkpoint: Checkpoint, jwk: Jwk) -> bool:
    """Whether the log's own line was made with this key."""
    raw = ed25519_bytes(jwk)
    if raw is None:
        return False
    expected = _key_hash(checkpoint.origin, _ED25519, raw)
    body = checkpoint.body.encode("utf-8")
    return any(
        line.name == checkpoint.origin
        and line.key_hash == expected
        and is_signed(jwk, body, line.data)
        for line in checkpoint.signatures
    )


def is_cosigned(checkpoint: Checkpoint, line: NoteSignature, name: str, jwk: Jwk) -> bool:
    """Whether a line is this witness's cosignature (C2SP tlog-cosignature)."""
    raw = ed25519_bytes(jwk)
    if raw is None or line.name != name or len(line.data) < 8:
        return False
    if line.key_hash != _key_hash(name, _COSIGNATURE, raw):
        return False
    time = int.from_bytes(line.data[:8], "big")
    message = f"cosignature/v1\ntime {time}\n{checkpoint.body}"
    return is_signed(jwk, message.encode("utf-8"), line.data[8:])
