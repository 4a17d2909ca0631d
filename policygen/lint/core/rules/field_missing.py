"""A field is missing that the server requires."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.kubernetes.cluster import VOLCANO, VOLCANO_BATCH
from policygen.lint.core.server_refusals import told
from policygen.lint.rule import Claim, Facts, Family, Rule

_WITH_SPEC = ((VOLCANO, "Queue"), (VOLCANO_BATCH, "CronJob"))
"""Kinds whose schema takes them without a spec, and whose webhook does not."""


def check(facts: Facts) -> Iterator[Claim]:
    """Source: what running servers serve, `schemas/cluster`; Volcano's webhooks, which write into spec."""
    yield from told(facts, "missing-field")
    for group, kind in _WITH_SPEC:
        for it in facts.cluster.of(group, kind):
            if it.data.get("spec") is None:
                yield Claim(
                    f"{it}: spec is missing, which Volcano's webhook requires; write it", it.at
                )

    for it in facts.cluster.of("topology.volcano.sh", "HyperNode"):
        spec = it.data.get("spec")
        if isinstance(spec, dict) and spec.get("members") in (None, []):
            yield Claim(
                f"{it}: members is missing, which Volcano's webhook requires; write one",
                it.at / "spec",
            )


RULE = Rule("field-missing", Severity.ERROR, Family.INVALID, judges=(), check=check)
