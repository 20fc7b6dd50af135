"""RFC 8785 (JSON Canonicalization Scheme): docs/ledger-format.md, "A record"."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_SHORT = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def canonicalize(value: Any) -> bytes:
    """The canonical UTF-8 bytes of a value that was parsed.

    Raises ValueError where it has none: a lone surrogate, NaN, an infinity.
    """
    return _text(value).encode("utf-8")


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{_string(key)}:{_text(value[key])}" for key in keys) + "}"
    raise ValueError("the value has no JSON form")


def _string(text: str) -> str:
    return '"' + _ESCAPED.sub(lambda m: _escape(m.group()), text) + '"'


def _escape(char: str) -> str:
    return _SHORT.get(char) or f"\\u{ord(char):04x}"


def number_text(value: int | float) -> str:
    """A double as ECMAScript writes it (ECMA-262, Number::toString)."""
    value = float(value)
    if not math.isfinite(value):
        raise ValueError("a number is not finite")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    # Python's repr yields the shortest digits that read back as the same double.
    _, raw, exponent = Decimal(repr(abs(value))).as_tuple()
    digits = "".join(map(str, raw))
    point = len(digits) + int(exponent)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{sign}{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
