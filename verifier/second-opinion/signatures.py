"""Ed25519, ES256 and RS256 signatures, and base64 encodings of bytes."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from canonical import canonicalize

Jwk = dict[str, Any]
_SMALLEST_RSA_BITS = 2048

# The field of Ed25519 (RFC 8032, 5.1), and the y coordinates of the points of small order.
_P = 2**255 - 19
_SMALL_ORDER = {0, 1, _P - 1} | {
    int.from_bytes(bytes.fromhex(y), "little")
    for y in (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    )
}


def from_base64(text: str) -> bytes | None:
    """The bytes; None if the text is not their canonical base64."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode("ascii") == text else None


def from_base64url(text: Any) -> bytes | None:
    """Like from_base64, for base64url without padding; None for anything but text."""
    if not isinstance(text, str) or not text.isascii() or any(char in text for char in "+/="):
        return None
    plain = text.replace("-", "+").replace("_", "/")
    return from_base64(plain + "=" * (-len(plain) % 4))


def ed25519_bytes(jwk: Jwk) -> bytes | None:
    """The 32 bytes of an Ed25519 key (RFC 8037); None if it is not one."""
    x = jwk.get("x")
    if jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519" or not isinstance(x, str):
        return None
    raw = from_base64url(x)
    return raw if raw is not None and len(raw) == 32 and not _is_of_small_order(raw) else None


def _is_of_small_order(raw: bytes) -> bool:
    """One signature of such a key holds for many texts, and anybody can make it."""
    return (int.from_bytes(raw, "little") & (2**255 - 1)) % _P in _SMALL_ORDER


def is_signed(jwk: Jwk, data: bytes, signature: bytes | None) -> bool:
    """Whether an Ed25519 signature (RFC 8032) of the bytes holds."""
    raw = ed25519_bytes(jwk)
    if raw is None or signature is None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def is_statement_signed(jwk: Jwk, statement: Any, signature: str) -> bool:
    """Whether the RFC 8785 bytes of a value were signed."""
    return is_signed(jwk, canonicalize(statement), from_base64url(signature))


def is_signed_by_kind(jwk: Jwk, statement: Any, signature: str) -> bool:
    """Whether a value's RFC 8785 bytes were signed, by the algorithm of the key's kind."""
    if jwk.get("kty") == "OKP":
        return is_statement_signed(jwk, statement, signature)
    raw = from_base64url(signature)
    if raw is None:
        return False
    algorithm = "ES256" if jwk.get("kty") == "EC" else "RS256"
    return is_jws_signed({**jwk, "alg": algorithm}, algorithm, canonicalize(statement), raw)


def is_jws_signed(jwk: Jwk, algorithm: str, data: bytes, signature: bytes) -> bool:
    """Whether a JWS signature (RFC 7515) with ES256 or RS256 holds. The algorithm is the key's."""
    own = jwk.get("alg")
    if not isinstance(own, str):
        own = "ES256" if jwk.get("kty") == "EC" else "RS256"
    if own != algorithm:
        return False
    try:
        if algorithm == "ES256":
            return _is_es256_signed(jwk, data, signature)
        if algorithm == "RS256":
            return _is_rs256_signed(jwk, data, signature)
    except (InvalidSignature, ValueError, KeyError, TypeError):
        return False
    return False


def _is_es256_signed(jwk: Jwk, data: bytes, signature: bytes) -> bool:
    if jwk.get("kty") != "EC" or jwk.get("crv") != "P-256" or len(signature) != 64:
        return False
    x, y = from_base64url(jwk["x"]), from_base64url(jwk["y"])
    if x is None or y is None or (len(x), len(y)) != (32, 32):
        return False
    numbers = ec.EllipticCurvePublicNumbers(
        int.from_bytes(x, "big"), int.from_bytes(y, "big"), ec.SECP256R1()
    )
    r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
    encoded = utils.encode_dss_signature(r, s)
    numbers.public_key().verify(encoded, data, ec.ECDSA(hashes.SHA256()))
    return True


def _is_rs256_signed(jwk: Jwk, data: bytes, signature: bytes) -> bool:
    modulus = _number(jwk["n"])
    if jwk.get("kty") != "RSA" or modulus.bit_length() < _SMALLEST_RSA_BITS:
        return False
    numbers = rsa.RSAPublicNumbers(_number(jwk["e"]), modulus)
    numbers.public_key().verify(signature, data, padding.PKCS1v15(), hashes.SHA256())
    return True


def _number(text: str) -> int:
    """Raises ValueError if the text is not its canonical encoding (RFC 7518, Base64urlUInt)."""
    data = from_base64url(text)
    if not data or data[0] == 0:
        raise ValueError("it is no number")
    return int.from_bytes(data, "big")
