"""A record that no line can hold, by its size and the end of its hash: FIPS 180-4, 6.2.2."""

from __future__ import annotations

from typing import Any

from signatures import from_base64

_MASK = 0xFFFFFFFF


def _primes(count: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


def _cube_root(value: int) -> int:
    low, high = 0, 1 << 36
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= value else (low, middle)
    return low


_ROUND = [_cube_root(prime << 96) & _MASK for prime in _primes(64)]


def large_record_hash(shown: dict[str, Any]) -> bytes | None:
    """The record's hash; None if the rest does not belong to the size."""
    rest = from_base64(shown["rest"])
    hashed = shown["size"] + 1
    if rest is None or len(rest) != hashed % 64:
        return None
    zeros = b"\0" * ((55 - len(rest)) % 64)
    blocks = rest + b"\x80" + zeros + (hashed * 8).to_bytes(8, "big")
    state = [int(shown["state"][at : at + 8], 16) for at in range(0, 64, 8)]
    for at in range(0, len(blocks), 64):
        state = _compress(state, blocks[at : at + 64])
    return b"".join(word.to_bytes(4, "big") for word in state)


def _rotated(word: int, by: int) -> int:
    return (word >> by | word << (32 - by)) & _MASK


def _compress(state: list[int], block: bytes) -> list[int]:
    words = [int.from_bytes(block[at : at + 4], "big") for at in range(0, 64, 4)]
    for t in range(16, 64):
        x, y = words[t - 15], words[t - 2]
        low = _rotated(x, 7) ^ _rotated(x, 18) ^ x >> 3
        high = _rotated(y, 17) ^ _rotated(y, 19) ^ y >> 10
        words.append((words[t - 16] + low + words[t - 7] + high) & _MASK)
    a, b, c, d, e, f, g, h = state
    for t in range(64):
        of_e = _rotated(e, 6) ^ _rotated(e, 11) ^ _rotated(e, 25)
        first = h + of_e + (e & f ^ ~e & g) + _ROUND[t] + words[t]
        of_a = _rotated(a, 2) ^ _rotated(a, 13) ^ _rotated(a, 22)
        second = of_a + (a & b ^ a & c ^ b & c)
        a, b, c, d, e, f, g, h = (first + second) & _MASK, a, b, c, (d + first) & _MASK, e, f, g
    return [(old + new) & _MASK for old, new in zip(state, (a, b, c, d, e, f, g, h))]
