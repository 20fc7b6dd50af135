"""Whether a bundle's manifest was signed: signatures of bundles as OPA makes them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import strict_json
from keys import Keyset
from shapes import anything, array, identifier, matches, one_of, pattern, record, string
from signatures import from_base64url, is_jws_signed

_MAX_SIGNATURES_BYTES = 1024 * 1024
# Values and keys of the file and of the token's header, and of its claims.
_MAX_NODES = 100
_MAX_CLAIMS_NODES = 20_100

_SIGNATURES = record({"signatures": array(string(), 1, 1)})
_HEADER = record({"alg": string(), "kid?": string()}, is_open=True)
_FILE = record(
    {"name": string(), "hash": string(), "algorithm": one_of("SHA-256")}, is_open=True
)
_CLAIMS = record(
    {"files": array(_FILE, 1_000_000), "keyid?": string(), "scope": string()}, is_open=True
)
_MANIFEST = record(
    {
        "revision": pattern("[0-9]+"),
        "roots": array(string(), 1_000_000),
        "rego_version": one_of(0, 1),
        "file_rego_versions?": anything,
        "metadata": record(
            {
                "tenant_id": identifier,
                "entrypoints": array(string(), 1_000_000),
                "sources_digest": string(),
            },
            is_open=True,
        ),
    },
    is_open=True,
)


class _Number(str):
    """A number in its original spelling."""


def read_bundle(
    keyset: Keyset, manifest: str, signatures: str, tenant_id: str
) -> tuple[str, dict[str, Any]]:
    """The id of the key that signed, and the bundle's manifest. Raises ValueError."""
    header, claims, signed, signature = _read_token(signatures)
    kid = header.get("kid", claims.get("keyid", ""))
    key = keyset.find("bundle", kid)
    if key is None or not is_jws_signed(key.jwk, header["alg"], signed, signature):
        raise ValueError("not signed by a known bundle key")
    if claims["scope"] != tenant_id:
        raise ValueError("the bundle was signed for another scope")
    listed = [file for file in claims["files"] if file["name"] == ".manifest"]
    if len(listed) != 1 or listed[0]["hash"] != _opa_hash(manifest):
        raise ValueError("the manifest is not what was signed")
    value = strict_json.parse(manifest.encode("utf-8"), exact_numbers=False)
    if not matches(_MANIFEST, value) or value["metadata"]["tenant_id"] != tenant_id:
        raise ValueError("the bundle is of another tenant, or has no manifest")
    return kid, value


def _read_token(signatures: str) -> tuple[dict[str, Any], dict[str, Any], bytes, bytes]:
    data = signatures.encode("utf-8")
    if len(data) > _MAX_SIGNATURES_BYTES:
        raise ValueError("the signatures are too large")
    file = strict_json.parse(data, max_depth=8, max_nodes=_MAX_NODES, exact_numbers=False)
    if not matches(_SIGNATURES, file):
        raise ValueError("there is no signature")
    parts = file["signatures"][0].split(".")
    decoded = [from_base64url(part) for part in parts]
    if len(parts) != 3 or not all(decoded):
        raise ValueError("the signature is no compact JWT")
    values = [
        strict_json.parse(part or b"", max_depth=8, max_nodes=most, exact_numbers=False)
        for part, most in zip(decoded, (_MAX_NODES, _MAX_CLAIMS_NODES))
    ]
    if not matches(_HEADER, values[0]) or not matches(_CLAIMS, values[1]):
        raise ValueError("the signature is no JWT of a bundle")
    return values[0], values[1], f"{parts[0]}.{parts[1]}".encode(), decoded[2] or b""


def _opa_hash(text: str) -> str:
    """SHA-256 of the form that OPA hashes: keys by their UTF-8 bytes, numbers in their spelling."""
    strict_json.parse(text.encode("utf-8"), max_depth=256, exact_numbers=False)
    value = json.loads(text, parse_int=_Number, parse_float=_Number)
    return hashlib.sha256(_opa_form(value).encode("utf-8")).hexdigest()


def _opa_form(value: Any) -> str:
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, list):
        return "[" + ",".join(map(_opa_form, value)) + "]"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-8"))
        return "{" + ",".join(f"{_opa_form(key)}:{_opa_form(value[key])}" for key in keys) + "}"
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
