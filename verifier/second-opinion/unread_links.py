"""Compares what unread records follow: docs/evidence-format.md, "Batches that overlap"."""

from __future__ import annotations


class UnreadLinks:
    """By stream and place, in its newest epoch: the hash of the record that an unread one follows."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._streams: dict[str, tuple[int, dict[int, str]]] = {}
        self.is_full = False

    def add(
        self,
        stream: str,
        place: tuple[int, int],
        digest: str,
        *,
        is_unread: bool,
        follows: str | None,
    ) -> bool:
        """Whether the record, and what it follows, match what was seen at this place."""
        epoch, seq = place
        known_epoch, followed = self._streams.get(stream, (epoch, {}))
        if known_epoch < epoch:
            self._held -= len(followed)
            del self._streams[stream]
            followed = {}
        elif known_epoch > epoch:
            # A record of an earlier epoch: the walk reports it.
            return True
        is_same = followed.get(seq, digest) == digest
        if not is_unread or follows is None:
            return is_same
        if seq - 1 not in followed:
            if self._held >= self._limit:
                self.is_full = True
            else:
                followed[seq - 1] = follows
                self._streams[stream] = (epoch, followed)
                self._held += 1
            return is_same
        return is_same and followed[seq - 1] == follows
