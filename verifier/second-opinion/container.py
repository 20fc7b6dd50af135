"""The package's members: gzip (RFC 1952) and USTAR by hand, or one JSON document.

docs/evidence-format.md, "The package" and "Volumes".
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import BinaryIO, Iterator

import strict_json

PACKED_BYTES = 64 * 1024 * 1024
UNPACKED_BYTES = 512 * 1024 * 1024
RATIO = 100
DOCUMENT_BYTES = 16 * 1024 * 1024
JSON_FORMAT = "agent-governance-evidence/v1+json"
# Small packages may be mostly the archive's zeros.
_RATIO_FROM = 1024 * 1024
_CHUNK = 64 * 1024
# Nothing is read from a piece in which the gzip breaks, so pieces are small.
_PIECE = 16 * 1024
_BLOCK = 512
_EMPTY = bytes(_BLOCK)
_NAME = re.compile(rb"[\x21-\x7e]{1,100}")
_OCTAL = re.compile(rb"[0-7]{11}")


class ArchiveError(ValueError):
    """It is not a package of this form (container.members)."""


class TooLargeError(ValueError):
    """It exceeds a limit (container.limits)."""


@dataclass
class Member:
    """A member; its content must be read before the next one is requested."""

    name: str
    size: int
    content: Iterator[bytes]


def members_of(source: BinaryIO) -> Iterator[Member]:
    """The members in order. Raises ArchiveError and TooLargeError, also while they are read."""
    first = source.read(1)
    if first == b"\x1f":
        yield from _untar(_Bytes(_gunzip(first, source)))
    elif first == b"{":
        yield from _document(first, source)
    else:
        raise ArchiveError("the package is neither a gzip nor a JSON document")


def _document(first: bytes, source: BinaryIO) -> Iterator[Member]:
    data = first + source.read(DOCUMENT_BYTES)
    if len(data) > DOCUMENT_BYTES:
        raise TooLargeError("the JSON document is too large")
    try:
        value = strict_json.parse(data, max_depth=4, max_nodes=1_000)
    except strict_json.StrictJsonError as error:
        raise ArchiveError("the JSON document is no package") from error
    members = value.get("members")
    if set(value) != {"format", "members"} or value["format"] != JSON_FORMAT:
        raise ArchiveError("the JSON document is no package")
    if not isinstance(members, dict) or not all(isinstance(t, str) for t in members.values()):
        raise ArchiveError("the JSON document is no package")
    if any(strict_json.utf16_length(name) > 100 for name in members):
        raise ArchiveError("the JSON document is no package")
    for name, text in members.items():
        content = text.encode("utf-8")
        yield Member(name, len(content), iter([content]))


def _gunzip(first: bytes, source: BinaryIO) -> Iterator[bytes]:
    """Unpacks exactly one member with a plain header; nothing may follow it."""
    header = first + source.read(9)
    if len(header) < 10 or header[:4] != b"\x1f\x8b\x08\x00":
        raise ArchiveError("the gzip has no plain header")
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    packed, size, check, behind = len(header), 0, 0, b""
    while not inflate.eof:
        data = inflate.unconsumed_tail or source.read(_CHUNK)
        if not inflate.unconsumed_tail:
            packed += len(data)
        if packed > PACKED_BYTES:
            raise TooLargeError("it is too large")
        try:
            piece = inflate.decompress(data, _PIECE)
        except zlib.error as error:
            raise ArchiveError("the gzip cannot be unpacked") from error
        if not data and not piece and not inflate.eof:
            raise ArchiveError("the gzip is cut off")
        size += len(piece)
        if size > UNPACKED_BYTES:
            raise TooLargeError("it unpacks to too much")
        if size > _RATIO_FROM and size > packed * RATIO:
            raise TooLargeError("it unpacks to too many times its size")
        check = zlib.crc32(piece, check)
        if piece:
            yield piece
    behind = inflate.unused_data
    behind += source.read(9 - min(9, len(behind)))
    if behind != check.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little"):
        raise ArchiveError("the checksum is wrong, or something follows the gzip")


class _Bytes:
    """Bytes that arrive in pieces, and are read in others."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = b""

    def is_at_end(self) -> bool:
        while not self._held:
            piece = next(self._pieces, None)
            if piece is None:
                return True
            self._held = piece
        return False

    def at_most(self, count: int) -> bytes:
        """Up to ``count`` bytes, at least one. Raises ArchiveError at the end."""
        if self.is_at_end():
            raise ArchiveError("the archive is cut off")
        taken, self._held = self._held[:count], self._held[count:]
        return taken

    def exactly(self, count: int) -> bytes:
        taken = b""
        while len(taken) < count:
            taken += self.at_most(count - len(taken))
        return taken


def _untar(source: _Bytes) -> Iterator[Member]:
    while (block := source.exactly(_BLOCK)) != _EMPTY:
        name, size = _header(block)
        content = _content(source, size)
        yield Member(name, size, content)
        for _ in content:
            pass
        if any(source.exactly(-size % _BLOCK)):
            raise ArchiveError("a padding is not empty")
    if source.exactly(_BLOCK) != _EMPTY:
        raise ArchiveError("the end is not two empty blocks")
    if not source.is_at_end():
        raise ArchiveError("something follows the end")


def _content(source: _Bytes, size: int) -> Iterator[bytes]:
    while size > 0:
        piece = source.at_most(size)
        size -= len(piece)
        yield piece


def _header(block: bytes) -> tuple[str, int]:
    """Name and size; they determine every other byte of the block."""
    name = block[:100].split(b"\0")[0]
    digits = block[124:135]
    if not _NAME.fullmatch(name) or not _OCTAL.fullmatch(digits):
        raise ArchiveError("a header cannot be read")
    plain = bytearray(_BLOCK)
    for offset, field in (
        (0, name),
        (100, b"0000644\0"),
        (108, b"0000000\0"),
        (116, b"0000000\0"),
        (124, digits + b"\0"),
        (136, b"00000000000\0"),
        (148, b"        "),
        (156, b"0"),
        (257, b"ustar\x0000"),
    ):
        plain[offset : offset + len(field)] = field
    plain[148:156] = b"%06o\0 " % sum(plain)
    if bytes(plain) != block:
        raise ArchiveError("a header is not of a plain file")
    return name.decode("ascii"), int(digits, 8)
