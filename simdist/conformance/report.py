"""What has the conformance suite found?"""

from __future__ import annotations

from dataclasses import dataclass

from simdist.errors import DistBackendError

__all__ = ["Finding", "Report"]


@dataclass(frozen=True)
class Finding:
    """One line of a report.

    Attributes:
        name: what was tried.
        world_size: with how many ranks.
        text: what is wrong; empty if nothing is.
    """

    name: str
    world_size: int
    text: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.text


@dataclass(frozen=True)
class Report:
    """What was tried, and what came of it.

    Attributes:
        what: what was looked at: ``backend 'mine'``.
        findings: one for each rule or program and number of ranks.
        fingerprint: of all results: equal for two backends that gave the same bytes.
        left: what was not tried, and why; empty if all was.
    """

    what: str
    findings: tuple[Finding, ...]
    fingerprint: str = ""
    left: str = ""

    @property
    def passed(self) -> bool:
        """Whether all was tried and nothing is wrong."""
        return not self.left and all(finding.passed for finding in self.findings)

    def require(self) -> None:
        """Raise unless it has passed.

        Raises:
            DistBackendError: the report, as text.
        """
        if not self.passed:
            raise DistBackendError(str(self))

    def __str__(self) -> str:
        width = max((len(finding.name) for finding in self.findings), default=0)
        sizes: dict[str, list[Finding]] = {}
        for finding in self.findings:
            sizes.setdefault(finding.name, []).append(finding)
        lines = []
        for name, findings in sizes.items():
            marks = "  ".join(f"{one.world_size} ranks {'ok' if one.passed else 'NO'}" for one in findings)
            lines.append(f"  {name.ljust(width)}  {marks}")
            lines += [f"      {one.world_size} ranks: {one.text}" for one in findings if not one.passed]
        wrong = sum(not finding.passed for finding in self.findings)
        verdict = f"{wrong} of {len(self.findings)} failed" if wrong else f"{len(self.findings)} passed"
        return "\n".join([f"{self.what}: {verdict}", *lines, *([self.left] if self.left else [])])
