"""JSON with one reading: docs/evidence-format.md, "The package".

Refuses keys that are there twice, ``__proto__``, numbers that a double does not carry, lone
surrogates, and texts that are nested too deeply or have too many values.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

MAX_DEPTH = 32
MAX_NUMBER_LENGTH = 40
MAX_KEY_LENGTH = 8192
MAX_SAFE_INTEGER = 2**53 - 1
DOCUMENT_NODES = 4_000_000
LINE_NODES = 100_000
RECORD_NODES = 200_000

# For valid text, in which every string ends.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class StrictJsonError(ValueError):
    """The text is not JSON with one reading."""


def utf16_length(text: str) -> int:
    """Length in UTF-16 code units, the format's unit of characters."""
    return len(text) + sum(1 for c in text if c > "\uffff")


def parse(
    data: bytes,
    *,
    max_depth: int = MAX_DEPTH,
    max_nodes: int = DOCUMENT_NODES,
    exact_numbers: bool = True,
) -> Any:
    """Parses UTF-8 bytes.

    ``exact_numbers=False`` leaves numbers that a double does not carry, for a text whose canonical
    form is compared anyway. Raises StrictJsonError.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError("the text is not UTF-8") from error

    def number(token: str) -> int | float:
        return _number(token, exact_numbers)

    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=number,
            parse_float=number,
            parse_constant=_no_constant,
        )
    except StrictJsonError:
        raise
    except (ValueError, RecursionError) as error:
        raise StrictJsonError("the text is no JSON, or is nested too deeply") from error
    _bound(text, max_depth, max_nodes)
    if "\\u" in text:
        _refuse_surrogates(value)
    return value


def _no_constant(token: str) -> Any:
    raise StrictJsonError(f"{token} is no JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise StrictJsonError("an object has the same key twice")
        if key == "__proto__":
            raise StrictJsonError("the key __proto__ is not accepted")
        if utf16_length(key) > MAX_KEY_LENGTH:
            raise StrictJsonError("a key is too long")
        found[key] = value
    return found


def _number(token: str, exact: bool) -> int | float:
    if len(token) > MAX_NUMBER_LENGTH or not token.isascii():
        raise StrictJsonError("a number is too long")
    value = float(token)
    is_whole = token.lstrip("-").isdigit()
    if is_whole and abs(int(token)) <= MAX_SAFE_INTEGER:
        return int(token)
    if exact and (is_whole or not math.isfinite(value) or not _is_carried(token, value)):
        raise StrictJsonError("a double does not carry a number")
    if value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        return int(value)
    return value


def _is_carried(token: str, value: float) -> bool:
    """Whether the shortest decimal of the double is the number that was written."""
    return Decimal(token) == Decimal(repr(value))


def _bound(text: str, max_depth: int, max_nodes: int) -> None:
    depth = nodes = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "}]":
            depth -= 1
        elif token in "{[,:":
            nodes += 1
            if token in "{[":
                depth += 1
        if depth > max_depth or nodes > max_nodes:
            raise StrictJsonError("the text is nested too deeply, or has too many values")


def _refuse_surrogates(value: Any) -> None:
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise StrictJsonError("a string has a lone surrogate")
    elif isinstance(value, list):
        for item in value:
            _refuse_surrogates(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_surrogates(key)
            _refuse_surrogates(item)
