"""Which keys may have signed: docs/evidence-format.md, "Keys"."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from canonical import canonicalize
from shapes import milliseconds
from signatures import Jwk, is_signed_by_kind, is_statement_signed

SKEW = 5 * 60_000
_KEY_MEMBERS = ("kty", "crv", "x", "y", "n", "e")


@dataclass(eq=False)
class Key:
    """A known key. ``is_anchored``: it is trusted, and not only named by the package."""

    kid: str
    purpose: str
    jwk: Jwk
    valid_from: str | None
    valid_to: str | None
    revoked_at: str | None
    is_anchored: bool


@dataclass(eq=False)
class Writer:
    """Whose stream a key is for, and the key that vouches for it."""

    key: Key
    statement: dict[str, Any]
    vouched_by: Key | None


@dataclass(frozen=True)
class Use:
    """A signature that holds, and when its key had to be valid; None where that is unknown."""

    key: Key
    location: str
    # Signed at this time or later, and at about this time. Records are signed after being written.
    not_before: str | None = None
    signed_at: str | None = None
    # When what it vouches for happened; None: any revocation counts; "": none does.
    vouches_for: str | None = None
    # Of a bundle's signature: the stream of the first decision by it.
    decided_by: str | None = None


@dataclass
class Keyset:
    """Keys by purpose and id, and writers by stream."""

    keys: dict[tuple[str, str], Key] = field(default_factory=dict)
    writers: dict[str, list[Writer]] = field(default_factory=dict)

    def find(self, purpose: str, kid: str) -> Key | None:
        return self.keys.get((purpose, kid))

    def all(self, purpose: str) -> list[Key]:
        return [key for key in self.keys.values() if key.purpose == purpose]


def preferred(keys: list[Key]) -> Key | None:
    """The first that is trusted, or the first."""
    return next((key for key in keys if key.is_anchored), keys[0] if keys else None)


def build_keyset(trusted: list[dict[str, Any]] | None, own: dict[str, Any]) -> Keyset:
    """Combines the anchor's keys with what the package says.

    With an anchor, only its keys and those that follow from them are trusted; the package can
    shorten the life of a trusted key, never lengthen it.
    """
    keyset = Keyset()
    for entry in trusted or []:
        keyset.keys[(entry["purpose"], entry["kid"])] = _key(entry, True)
    if trusted is not None:
        _follow_rotations(keyset, own["rotations"])
    for entry in own["keys"]:
        known = keyset.find(entry["purpose"], entry["kid"])
        if known is None:
            keyset.keys[(entry["purpose"], entry["kid"])] = _key(entry, False)
        elif _same_key(known.jwk, entry["jwk"]):
            known.valid_to = _earlier(known.valid_to, entry["valid_to"])
            known.revoked_at = _earlier(known.revoked_at, entry["revoked_at"])
    if trusted is None:
        _follow_rotations(keyset, own["rotations"])
    for signed in own["writers"]:
        writer = _writer(keyset, signed)
        keyset.writers.setdefault(writer.statement["stream"], []).append(writer)
    return keyset


def _key(entry: dict[str, Any], is_anchored: bool) -> Key:
    return Key(
        entry["kid"],
        entry["purpose"],
        entry["jwk"],
        entry["valid_from"],
        entry["valid_to"],
        entry["revoked_at"],
        is_anchored,
    )


def _writer(keyset: Keyset, signed: dict[str, Any]) -> Writer:
    statement = signed["statement"]
    signer = keyset.find("evidence", signed["kid"])
    if signer and not is_statement_signed(signer.jwk, statement, signed["signature"]):
        signer = None
    key = Key(
        statement["kid"],
        "writer",
        statement["jwk"],
        None,
        None,
        statement["revoked_at"],
        signer is not None and signer.is_anchored,
    )
    return Writer(key, statement, signer)


def _follow_rotations(keyset: Keyset, rotations: list[dict[str, Any]]) -> None:
    """Adds the keys that follow known ones, however the statements are ordered."""
    # A key whose end is known has named its successor, if any: its holder could backdate another.
    ended = {place for place, key in keyset.keys.items() if key.valid_to is not None}
    left = list(rotations)
    while left:
        ready = [one for one in left if _old_key(keyset, one)]
        if not ready:
            return
        # One at a time: the key that it adds may be the one that another statement continues.
        rotation = ready[0]
        left.remove(rotation)
        _rotate(keyset, rotation, ended)


def _old_key(keyset: Keyset, rotation: dict[str, Any]) -> Key | None:
    statement = rotation["statement"]
    return keyset.find(statement["purpose"], statement["old_kid"])


def _rotate(
    keyset: Keyset, rotation: dict[str, Any], ended: set[tuple[str, str]]
) -> None:
    statement = rotation["statement"]
    new = statement["new_key"]
    old = _old_key(keyset, rotation)
    place = (statement["purpose"], new["kid"])
    # A key that had ended, or is compromised, names no successor.
    if old is None or old.revoked_at is not None or place in keyset.keys:
        return
    if (old.purpose, old.kid) in ended:
        return
    if old.valid_to is not None and statement["time"] > old.valid_to:
        return
    if not _is_rotation_signed(old, rotation):
        return
    old.valid_to = _earlier(old.valid_to, statement["valid_from"])
    keyset.keys[place] = Key(
        new["kid"],
        statement["purpose"],
        new["jwk"],
        statement["valid_from"],
        None,
        None,
        old.is_anchored,
    )


def _is_rotation_signed(old: Key, rotation: dict[str, Any]) -> bool:
    statement = rotation["statement"]
    first, second = rotation["signatures"]
    new = statement["new_key"]
    if first["kid"] != statement["old_kid"] or second["kid"] != new["kid"]:
        return False
    return is_signed_by_kind(old.jwk, statement, first["signature"]) and is_signed_by_kind(
        new["jwk"], statement, second["signature"]
    )


def _earlier(one: str | None, other: str | None) -> str | None:
    times = [time for time in (one, other) if time is not None]
    return min(times, default=None)


def _same_key(one: Jwk, other: Jwk) -> bool:
    def members(jwk: Jwk) -> bytes:
        return canonicalize({name: jwk[name] for name in _KEY_MEMBERS if name in jwk})

    return members(one) == members(other)


def find_invalid(use: Use) -> str | None:
    """Why a key was not valid for a signature; None if it was."""
    key = use.key
    if key.revoked_at is not None:
        if use.vouches_for is None or use.vouches_for >= key.revoked_at:
            return "the key was revoked"
    if use.not_before is not None and key.valid_from is not None:
        if milliseconds(use.not_before) < milliseconds(key.valid_from) - SKEW:
            return "the key was not valid yet"
    if use.signed_at is not None and key.valid_to is not None:
        if milliseconds(key.valid_to) < milliseconds(use.signed_at) - SKEW:
            return "the key was no longer valid"
    return None
