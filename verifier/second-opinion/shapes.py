"""Forms of JSON values, composed of small ones.

A form is a function that takes a value and raises FormError if the value does not match.
"""

from __future__ import annotations

import math
import re
from datetime import datetime, timezone
from typing import Any, Callable

from strict_json import MAX_SAFE_INTEGER, utf16_length

Form = Callable[[Any], None]

_UUID = re.compile(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}"
    r"|0{8}-0{4}-0{4}-0{4}-0{12}|f{8}-f{4}-f{4}-f{4}-f{12}"
)
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
_HASH = re.compile(r"[0-9a-f]{64}")
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")


class FormError(ValueError):
    """The value does not match the form."""


def _must(holds: bool) -> None:
    if not holds:
        raise FormError("it is not of the format")


def matches(form: Form, value: Any) -> bool:
    """Whether a value matches a form."""
    try:
        form(value)
    except FormError:
        return False
    return True


def text(maximum: int | None = None, *, minimum: int = 0) -> Form:
    """A text without NUL and lone surrogates; lengths in UTF-16 code units."""

    def form(value: Any) -> None:
        _must(isinstance(value, str) and not _NOT_TEXT.search(value))
        _must(utf16_length(value) >= minimum)
        _must(maximum is None or utf16_length(value) <= maximum)

    return form


def string(maximum: int | None = None) -> Form:
    """Any string."""

    def form(value: Any) -> None:
        _must(isinstance(value, str) and (maximum is None or utf16_length(value) <= maximum))

    return form


def pattern(expression: str) -> Form:
    """A string that matches as a whole."""
    compiled = re.compile(expression)

    def form(value: Any) -> None:
        _must(isinstance(value, str) and compiled.fullmatch(value) is not None)

    return form


def integer(minimum: int = 0, maximum: int = MAX_SAFE_INTEGER) -> Form:
    """A whole number."""

    def form(value: Any) -> None:
        _must(isinstance(value, int) and not isinstance(value, bool))
        _must(minimum <= value <= maximum)

    return form


def number(minimum: float = -math.inf) -> Form:
    """A finite number."""

    def form(value: Any) -> None:
        _must(isinstance(value, (int, float)) and not isinstance(value, bool))
        _must(math.isfinite(value) and value >= minimum)

    return form


def one_of(*values: Any) -> Form:
    """One of these values."""

    def form(value: Any) -> None:
        _must(any(type(value) is type(one) and value == one for one in values))

    return form


def boolean(value: Any) -> None:
    """true or false."""
    _must(isinstance(value, bool))


def anything(_value: Any) -> None:
    """Any value."""


def nullable(form: Form) -> Form:
    """The form, or null."""

    def either(value: Any) -> None:
        if value is not None:
            form(value)

    return either


def array(item: Form, maximum: int, minimum: int = 0) -> Form:
    """An array of bounded length."""

    def form(value: Any) -> None:
        _must(isinstance(value, list) and minimum <= len(value) <= maximum)
        for one in value:
            item(one)

    return form


def record(members: dict[str, Form], *, is_open: bool = False) -> Form:
    """An object with these members: a name with ``?`` at its end may be missing.

    No others, unless it is open.
    """
    known = {name.rstrip("?"): (form, name.endswith("?")) for name, form in members.items()}

    def form(value: Any) -> None:
        _must(isinstance(value, dict))
        _must(is_open or all(name in known for name in value))
        for name, (member, may_miss) in known.items():
            if name in value:
                member(value[name])
            else:
                _must(may_miss)

    return form


def identifier(value: Any) -> None:
    """A UUID."""
    _must(isinstance(value, str) and _UUID.fullmatch(value) is not None)


def sha256(value: Any) -> None:
    """A SHA-256 in lower-case hexadecimal."""
    _must(isinstance(value, str) and _HASH.fullmatch(value) is not None)


def timestamp(value: Any) -> None:
    """ISO 8601, UTC, with milliseconds."""
    _must(isinstance(value, str) and _TIME.fullmatch(value) is not None)
    try:
        milliseconds(value)
    except ValueError as error:
        raise FormError("the time is not possible") from error


def milliseconds(value: str) -> int:
    """A timestamp's milliseconds since 1970. Raises ValueError."""
    if value.startswith("0000"):
        # The calendar repeats every 400 years; Python's starts with year 1.
        return milliseconds(f"0400{value[4:]}") - 146_097 * 86_400_000
    moment = datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    since = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (since.days * 86_400 + since.seconds) * 1_000 + since.microseconds // 1_000


def private_free_jwk(value: Any) -> None:
    """A JWK without its private half."""
    record({"kty": string(20)}, is_open=True)(value)
    _must("d" not in value)


EPOCH = integer(1, 2**31 - 1)
COUNT = integer()
POSITIVE = integer(1)
