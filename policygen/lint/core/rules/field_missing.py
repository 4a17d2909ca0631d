"""A field is missing that the server requires."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import VOLCANO, VOLCANO_BATCH
from policygen.lint.core.server_refusals import hits
from policygen.lint.rule import Facts, Family, ObjectRule

_WITH_SPEC = ((VOLCANO, "Queue"), (VOLCANO_BATCH, "CronJob"))
"""Kinds whose schema takes them without a spec, and whose webhook does not."""


def check(facts: Facts) -> Iterator[Hit]:
    """Source: what running servers serve, `schemas/cluster`; Volcano's webhooks, which write into spec."""
    yield from hits(RULE, facts, "missing-field")
    for group, kind in _WITH_SPEC:
        for it in facts.cluster.of(group, kind):
            if it.data.get("spec") is None:
                yield Hit(
                    RULE,
                    f"{it}: spec is missing, which Volcano's webhook requires; write it",
                    it.at,
                )

    for it in facts.cluster.of("topology.volcano.sh", "HyperNode"):
        spec = it.data.get("spec")
        if isinstance(spec, dict) and spec.get("members") in (None, []):
            yield Hit(
                RULE,
                f"{it}: members is missing, which Volcano's webhook requires; write one",
                it.at / "spec",
            )


RULE = ObjectRule("field-missing", Severity.ERROR, Family.INVALID, __doc__, judges=(), check=check)
