"""Fingerprints, which identify a finding in later runs."""

from collections import Counter
from collections.abc import Callable, Iterable

from policygen.core.finding import Finding
from policygen.core.rule import Rule


def fingerprints(findings: Iterable[Finding], name: Callable[[Rule], str] = str) -> list[str]:
    """A fingerprint for each finding, which stays equal if files are moved or reordered.

    It is computed from the rule, the cluster, the object and the field. If these are equal, a number
    distinguishes the findings. `name` returns the name of a rule, by default its current name.
    """
    from hashlib import sha256  # noqa: PLC0415 - it loads OpenSSL, and few runs need it

    seen: Counter[str] = Counter()
    made = []
    for finding in findings:
        parts: tuple[str, ...] = (
            name(finding.rule),
            finding.object,
            finding.anchor if finding.object else finding.message,
        )
        if finding.cluster:
            parts = (*parts, finding.cluster)
        text = "\0".join(parts)
        seen[text] += 1
        made.append(sha256(f"{text}\0{seen[text]}".encode("utf-8", "replace")).hexdigest()[:32])
    return made
