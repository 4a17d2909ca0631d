"""A ResourceQuota counts a resource without a domain, which Kubernetes does not know."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.label_grammar import key_fault
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.lint.core.standard_resources import QUOTA_KEYS, known_to_quota
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """What has a domain is taken, whether anything counts it or not: see `gpu-quota-binds-nothing`.

    Source: pkg/apis/core/validation/validation.go, ValidateResourceQuotaResourceName.
    """
    for quota in facts.cluster.resource_quotas:
        for name in quota.it.hard:
            at = quota.at.to("spec", "hard", name).on_key()
            if fault := key_fault(name):
                yield Hit(RULE, f"{quota}: {fault.replace('label key', 'name of a resource')}", at)
            elif not known_to_quota(name):
                hint = suggest(name, QUOTA_KEYS)
                if "gpu" in name:
                    hint = (
                        "write requests. and the name that nodes have, as requests.nvidia.com/gpu"
                    )
                yield Hit(RULE, f'{quota} counts "{name}", which there is not; {hint}', at)


RULE = ObjectRule(
    "quota-key-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("ResourceQuota",),
    check=check,
)
