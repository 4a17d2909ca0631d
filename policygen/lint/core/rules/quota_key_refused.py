"""A ResourceQuota counts an unknown resource, such as gpu instead of requests.nvidia.com/gpu."""

from policygen.core.label_grammar import key_fault
from policygen.core.standard_resources import QUOTA_KEYS, known_to_quota
from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The server accepts any name with a domain, counted or not: see `gpu-quota-counts-nothing`.

    Source: pkg/apis/core/validation/validation.go, ValidateResourceQuotaResourceName.
    """
    for quota in facts.cluster.resource_quotas:
        for name in quota.fields.hard:
            at = quota.at.to("spec", "hard", name).on_key()
            if fault := key_fault(name):
                yield Hit(RULE, f"{quota}: {fault.replace('label key', 'resource name')}", at)
            elif not known_to_quota(name):
                advice = suggest(name, QUOTA_KEYS)
                if "gpu" in name:
                    advice = (
                        'write "requests." and the resource name of the nodes, such as '
                        "requests.nvidia.com/gpu"
                    )
                message = f'{quota} counts "{name}", which is not a resource; {advice}'
                yield Hit(RULE, message, at)


RULE = ObjectRule(
    "quota-key-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy='Write "requests." and the resource name of the nodes, such as requests.nvidia.com/gpu.',
    judges=("ResourceQuota",),
    check=check,
)
