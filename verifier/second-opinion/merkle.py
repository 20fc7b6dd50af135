"""Merkle trees of RFC 6962, section 2.1, and their proofs (RFC 9162, section 2.1)."""

from __future__ import annotations

import hashlib
from typing import Iterable, Sequence


def leaf_hash(data: bytes) -> bytes:
    """SHA-256(0x00 || data): of a record, or of a batch in the log."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256(0x01 || left || right)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """A growing tree. Holds the roots of its full subtrees, from left to right."""

    def __init__(self, size: int = 0, frontier: Sequence[bytes] = ()) -> None:
        """Starts after ``size`` leaves. Raises ValueError if the frontier is for another size."""
        if bin(size).count("1") != len(frontier):
            raise ValueError("the frontier is of another size")
        self.size = size
        self._roots = list(frontier)

    def add(self, leaf: bytes) -> None:
        """Appends a leaf's hash."""
        rest = self.size
        while rest & 1:
            leaf = node_hash(self._roots.pop(), leaf)
            rest >>= 1
        self._roots.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """The root of all leaves; for none, SHA-256 of nothing."""
        if not self._roots:
            return hashlib.sha256(b"").digest()
        root = self._roots[-1]
        for left in reversed(self._roots[:-1]):
            root = node_hash(left, root)
        return root


def root_of(leaves: Iterable[bytes]) -> bytes:
    """The root over hashes of leaves."""
    tree = Tree()
    for leaf in leaves:
        tree.add(leaf)
    return tree.root()


def root_of_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that an inclusion proof leads to (RFC 9162, 2.1.3.2); None if it is invalid."""
    if not 0 <= index < size:
        return None
    position, last, root = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if position & 1 or position == last:
            root = node_hash(sibling, root)
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        else:
            root = node_hash(root, sibling)
        position >>= 1
        last >>= 1
    return root if last == 0 else None


def is_consistent(
    first: int, second: int, first_root: bytes, second_root: bytes, path: Sequence[bytes]
) -> bool:
    """Whether the tree of size ``second`` continues that of ``first`` (RFC 9162, 2.1.4.2)."""
    if not 0 <= first <= second:
        return False
    if first == 0:
        return not path and first_root == Tree().root()
    if first == second:
        return not path and first_root == second_root
    steps = list(path)
    if first & (first - 1) == 0:
        steps.insert(0, first_root)
    if not steps:
        return False
    position, last = first - 1, second - 1
    while position & 1:
        position >>= 1
        last >>= 1
    old = new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            old, new = node_hash(step, old), node_hash(step, new)
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        else:
            new = node_hash(new, step)
        position >>= 1
        last >>= 1
    return last == 0 and old == first_root and new == second_root
