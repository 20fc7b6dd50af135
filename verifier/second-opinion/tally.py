"""The result of a check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Tally:
    """Counts what held, and keeps the first finding of each kind."""

    held: int = 0
    failures: int = 0
    warnings: int = 0
    failure: tuple[str, str] | None = None
    warning: tuple[str, str] | None = None
    skipped: str | None = None

    def ok(self, count: int = 1) -> None:
        self.held += count

    def fail(self, detail: str, location: str = "") -> None:
        self.failures += 1
        self.failure = self.failure or (detail, location)

    def warn(self, detail: str, location: str = "") -> None:
        self.warnings += 1
        self.warning = self.warning or (detail, location)

    def skip(self, reason: str) -> None:
        """Nothing can be decided; a failure counts all the same."""
        self.skipped = self.skipped or reason

    def hold(self, holds: bool, detail: str, location: str = "") -> None:
        """Counts one that holds or fails."""
        if holds:
            self.ok()
        else:
            self.fail(detail, location)

    @property
    def status(self) -> str:
        if self.failure:
            return "fail"
        if self.skipped is not None:
            return "skip"
        return "warn" if self.warning else "pass"
