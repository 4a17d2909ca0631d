"""A ResourceQuota counts a resource by a name under which nothing is counted."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.resource_names import meant
from policygen.lint.rule import Claim, Facts, Family, Rule

_COUNTED = (".storageclass.storage.k8s.io/", ".deviceclass.resource.k8s.io/")


def check(facts: Facts) -> Iterator[Claim]:
    """Any name with a domain is accepted; of extended resources only `requests.` is counted.

    Source: pkg/quota/v1/evaluator/core/pods.go; pkg/apis/core/validation/validation.go
    (Kubernetes 1.36.3); NVIDIA/k8s-device-plugin#211.
    """
    for quota in facts.cluster.resource_quotas:
        for name in quota.it.hard:
            bare = name.removeprefix("limits.").removeprefix("requests.")
            if "/" not in bare or name.startswith("count/"):
                continue
            if any(word in bare for word in _COUNTED):
                continue
            right = meant(bare)
            if name.startswith("requests.") and right is None:
                continue
            yield Claim(
                f'{quota} bounds "{name}", which the API server accepts and counts nowhere: the '
                f"namespace has no such limit; write requests.{right or bare}",
                quota.at.to("spec", "hard", name).on_key(),
            )


RULE = Rule(
    "gpu-quota-binds-nothing",
    Severity.ERROR,
    Family.INERT,
    judges=("ResourceQuota",),
    check=check,
)
