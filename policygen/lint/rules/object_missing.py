"""An object that the spec renders is not on the cluster, or goes."""

from collections.abc import Iterator

from policygen.drift.faults import MISSING
from policygen.finding import Severity
from policygen.lint.drifted import KINDS, NEEDS
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Only of kinds that were read, in namespaces that were.

    Source: a deleted object leaves nothing in etcd, so nobody can be named.
    """
    from policygen.drift.drift import deleted_at

    if facts.rendered is None:
        return
    drift = facts.rendered.against(facts.cluster)
    for it in drift.missing:
        origin = facts.rendered.origin(it)
        yield Claim(
            f"{it.object} is not on the cluster, and the spec renders it; it was deleted or "
            "never applied; apply it again (lint --patches DIR writes its manifest)",
            it.object.at,
            (origin,) if origin else (),
        )
    for it, found in drift.leaving:
        origin = facts.rendered.origin(it)
        yield Claim(
            f"{found} was deleted at {deleted_at(found)}, and goes as soon as no finalizer holds it; "
            "that can't be taken back: let it go, and apply it again",
            found.at,
            (origin,) if origin else (),
        )


RULE = Rule(MISSING, Severity.ERROR, Family.DRIFT, judges=KINDS, check=check, needs=NEEDS)
