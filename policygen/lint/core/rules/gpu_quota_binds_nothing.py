"""A ResourceQuota counts a resource by a name under which nothing is counted."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from policygen.core.finding import At, Edit, Hit, Verb
from policygen.core.label_grammar import key_fault
from policygen.core.rule import Severity
from policygen.lint.core.resource_names import extended, meant, surely
from policygen.lint.rule import Facts, Family, Fix, ObjectRule

_COUNTED = (".storageclass.storage.k8s.io/", ".deviceclass.resource.k8s.io/")


def check(facts: Facts) -> Iterator[Hit]:
    """Any name with a domain is accepted; of extended resources only `requests.` is counted.

    Source: pkg/quota/v1/evaluator/core/pods.go; pkg/apis/core/validation/validation.go
    (Kubernetes 1.36.3); NVIDIA/k8s-device-plugin#211.
    """
    for quota in facts.cluster.resource_quotas:
        for name in quota.it.hard:
            bare = name.removeprefix("limits.").removeprefix("requests.")
            if "/" not in bare or name.startswith("count/"):
                continue
            if any(word in bare for word in _COUNTED) or key_fault(name):
                continue
            right = meant(bare)
            if name.startswith("requests.") and right is None and extended(bare):
                continue
            at = quota.at.to("spec", "hard", name).on_key()
            counted = f"requests.{right or bare}"
            if counted in quota.it.hard and counted != name:
                hint = f"remove it: {counted} is what binds"
            elif not extended(bare):
                hint = "remove it: what has kubernetes.io/ in its name is counted under no name"
            else:
                hint = f"write {counted}"
                hint += "" if right or surely(bare) else ", if nodes have such a resource"
            yield Hit(
                RULE,
                f'{quota} bounds "{name}", which the API server accepts and counts nowhere: the '
                f"namespace has no such limit; {hint}",
                at,
                edits=_edits(at, quota.it.hard, f"requests.{bare}") if surely(bare) else (),
            )


def _edits(at: At, hard: Mapping[str, Fraction], counted: str) -> tuple[Edit, ...]:
    """The name that is counted; what says the same as an entry that has it goes."""
    if counted not in hard:
        return (Edit(Verb.RENAME, at, counted),)
    return (Edit(Verb.REMOVE, at),) if hard[counted] == hard[f"{at.path[-1]}"] else ()


RULE = ObjectRule(
    "gpu-quota-binds-nothing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("ResourceQuota",),
    check=check,
    fix=Fix.UNSAFE,
)
