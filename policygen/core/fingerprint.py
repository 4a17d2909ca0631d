"""An identity for a finding, by which it is known again."""

from collections import Counter
from collections.abc import Callable, Iterable

from policygen.core.finding import Finding
from policygen.core.rule import Rule


def fingerprints(findings: Iterable[Finding], name: Callable[[Rule], str] = str) -> list[str]:
    """An identity for each finding that survives moving files and reordering what is in them.

    It is made of the rule, the cluster, the object and the field. Findings that agree in these are told
    apart by their number. `name` gives the name of a rule that counts, its current one unless given.
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
