"""A workload requests nothing that its ClusterQueue covers, so it uses no quota."""

from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import READS, covered, refused, requests_by_workload
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue assigns no flavor to such a workload, so it adds neither a node selector nor tolerations.

    Checked only if no pod of it uses quota. Source: issues 891, 931.
    """
    unreadable = {it.object.at for it in facts.cluster.malformed}
    for requests in requests_by_workload(facts):
        known = covered(requests[0].queue)
        if not known or "pods" in known or any(known & set(each.counted) for each in requests):
            continue
        if any(refused(facts, each) for each in requests):
            continue  # request-not-covered reports it
        first = requests[0]
        if first.workload.object.at in unreadable or not first.template.spec.containers:
            continue  # the requests are not known: other rules report the fields
        yield Hit(
            RULE,
            f"{first.workload} requests nothing that {first.queue} covers, so it uses no quota "
            "and may run on any node; write requests in the pods, or add a LimitRange with "
            "defaultRequest to the namespace",
            first.template.at.to("spec", "containers"),
        )


RULE = ObjectRule(
    "workload-uses-no-quota",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write requests in the pods, or add a LimitRange with defaultRequest to the namespace.",
    judges=KINDS,
    check=check,
    reads=READS,
    aliases=("workload-charges-no-quota",),
)
