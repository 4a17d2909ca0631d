"""A queued pod requests more than any node of its queue's flavors has."""

from fractions import Fraction

from policygen.core.amounts import amount_of, readable
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import pod_requests
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Its quota is enough, so Kueue admits it; the pod stays Pending.

    Checked only if the nodes of every flavor are known. Source: docs on topology-aware scheduling:
    without a topology Kueue compares only sums.
    """
    found = facts.cluster.derive(nodes)
    for request in pod_requests(facts):
        names = [flavor.name for group in request.groups for flavor in group.flavors]
        pools = [found[name].sizes if name in found else () for name in names]
        if not names or not all(pools):
            continue
        wanted = request.template.spec.requests
        zero = Fraction(0)
        best: dict[str, Fraction] = {}
        for have in (have for pool in pools for have in pool):
            if all(have.get(name, zero) >= amount for name, amount in wanted.items()):
                break
            best = {name: max(best.get(name, zero), have.get(name, zero)) for name in wanted}
        else:
            short = [name for name in sorted(wanted) if wanted[name] > best[name]]
            message = (
                f"a pod of {request.workload} requests "
                f"{amount_of(short[0], wanted[short[0]], best[short[0]])}, but the largest node in "
                f"the flavors of its queue has {readable(short[0], best[short[0]], wanted[short[0]])}; "
                "lower the requests of the pod, or add larger nodes"
                if short
                else f"a pod of {request.workload} fits no node in the flavors of its queue, because no "
                "node has all the requested resources; lower the requests of the pod, or add larger nodes"
            )
            yield Hit(
                RULE,
                message,
                request.template.at.to("spec", "containers"),
                related=(request.queue.at.to("spec", "resourceGroups"),),
            )


RULE = ObjectRule(
    "queued-pod-fits-no-node",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Lower the requests of the pod, or add larger nodes.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("LocalQueue", "ClusterQueue", "ResourceFlavor", "Configuration", "LimitRange"),
)
