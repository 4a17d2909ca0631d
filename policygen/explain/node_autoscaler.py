"""What each field of the objects of `--with node-autoscaler` does, and the steps to their numbers."""

from collections.abc import Mapping

from policygen.core.finding import Path
from policygen.explain.meaning import Field, FieldTable
from policygen.explain.step import Step, Steps
from policygen.plan import node_autoscaler
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Item
from policygen.plan.pool import PoolFacts

_SPEC = "spec.template.spec"
_REQUIREMENT = f"{_SPEC}.requirements[]"
_KARPENTER = "https://karpenter.sh/docs/concepts/"

PRIORITIES = FieldTable(
    "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/expander/priority/readme.md",
    {
        ".*": Field(
            "A regular expression for node groups, below their priority. If a waiting pod fits on nodes "
            "of several groups, Cluster Autoscaler adds nodes to the group with the highest priority. "
            "It needs the option --expander=priority."
        ),
    },
)
"""The file of the priority expander."""

TABLES: Mapping[str, FieldTable] = {
    "ConfigMap": PRIORITIES,
    "NodePool": FieldTable(
        f"{_KARPENTER}nodepools/",
        {
            "spec.template.metadata.labels.*": Field("A label of each node of the pool."),
            f"{_SPEC}.nodeClassRef.group": Field("The API group of the NodeClass of the cloud."),
            f"{_SPEC}.nodeClassRef.kind": Field("The kind of the NodeClass."),
            f"{_SPEC}.nodeClassRef.name": Field(
                "The NodeClass with the image, network and disks of the nodes. You write it."
            ),
            f"{_REQUIREMENT}.key": Field("A label that Karpenter chooses instances by."),
            f"{_REQUIREMENT}.operator": Field(
                "How the label is compared; In: it is one of the values.",
                always="a pool has equal nodes, so each label has one value",
            ),
            f"{_REQUIREMENT}.values[]": Field("The value that instances of the pool have."),
            f"{_SPEC}.taints[].key": Field("The key of a taint that each node gets."),
            f"{_SPEC}.taints[].value": Field("The value of the taint."),
            f"{_SPEC}.taints[].effect": Field(
                "What the taint does: NoSchedule and NoExecute keep pods without a toleration away."
            ),
            "spec.disruption.consolidationPolicy": Field(
                "Which nodes Karpenter removes to save costs. WhenEmpty: those on which only pods of "
                "DaemonSets run. The default also evicts pods of nodes that are not full.",
                f"{_KARPENTER}disruption/",
                always="a running training would lose its work if its node were removed",
            ),
            "spec.disruption.consolidateAfter": Field(
                "How long a node is empty before Karpenter removes it.",
                f"{_KARPENTER}disruption/",
                always="it is the default of Karpenter, which releases before 1.15 do not have",
            ),
            "spec.limits.*": Field(
                "The most of this resource on all nodes together. Karpenter adds no node that would "
                "exceed it."
            ),
            "spec.weight": Field(
                "Karpenter tries NodePools with a higher weight first if a pod fits on several."
            ),
        },
    ),
}


class NodeAutoscalerSteps:
    """Finds the steps to the numbers in the objects of one spec."""

    def __init__(self, decided: Decisions) -> None:
        self._decided = decided

    def of_node_pool(self, item: Item, path: Path) -> Steps:
        """The steps to a limit or a weight; empty for all other fields."""
        facts = node_autoscaler.pool_of(self._decided.pools, item.meta.name)
        match path:
            case ("metadata", "name") if facts.name != item.meta.name:
                at = facts.pool.at.to("spec", "nodeSelector", node_autoscaler.NODE_POOL)
                return [Step("name", item.meta.name, at=at)]
            case ("spec", "limits", "nodes"):
                return [_nodes(facts)]
            case ("spec", "limits", str()):
                cards = Step(
                    "GPUs of a node", str(facts.per_node), at=facts.pool.at.to("spec", "gpu")
                )
                total = facts.all_nodes * facts.per_node
                formula = f"{facts.all_nodes} × {facts.per_node}"
                return [_nodes(facts), cards, Step(str(path[-1]), str(total), formula)]
            case ("spec", "weight"):
                return self._weight(facts)
        return []

    def _weight(self, facts: PoolFacts) -> Steps:
        queue = next(it for it in self._decided.platform.shared_queues if facts.name in it.pools)
        behind = len(queue.pools) - 1 - queue.pools.index(facts.name)
        pools = Step(f"pools after {facts.name}", str(behind), at=queue.at / "pools")
        return [pools, Step("weight", str(behind + 1), f"{behind} + 1")]


def _nodes(facts: PoolFacts) -> Step:
    return Step("nodes of the pool", str(facts.all_nodes), at=facts.pool.at.to("spec", "capacity"))
