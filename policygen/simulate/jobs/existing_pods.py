"""The pods of a snapshot, by the object for which they were created."""

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.snapshot import Pod
from policygen.simulate.jobs.object_keys import ObjectKey, parents


class ExistingPods:
    """The pods that have not ended."""

    def __init__(self, cluster: Cluster) -> None:
        self.by_root = _by_root(cluster)
        """By the object that users created."""
        self._by_name = {
            (it.namespace, it.name): it for pods in self.by_root.values() for it in pods
        }

    def of(self, owner: ObjectKey | None) -> list[Pod]:
        """The pods of the object for which a Workload was created, also without a node."""
        if owner is None:
            return []
        if owner[0] == "Pod":
            pod = self._by_name.get(owner[1:])
            return [pod] if pod is not None else []
        return self.by_root.get(owner, [])

    def placed(self, owner: ObjectKey | None) -> list[Pod]:
        """Those with a node; a Pod in a queue also without one."""
        existing = self.of(owner)
        return existing if owner and owner[0] == "Pod" else [it for it in existing if it.node]


def _by_root(cluster: Cluster) -> dict[ObjectKey, list[Pod]]:
    parent_of = parents(cluster)
    found: dict[ObjectKey, list[Pod]] = {}
    for pod in cluster.pods:
        if pod.done:
            continue
        key = ("Pod", pod.namespace, pod.name)
        if pod.owner is not None and pod.owner.kind != "Node":  # that is the owner of a static pod
            key = (pod.owner.kind, pod.namespace, pod.owner.name)
        passed: set[ObjectKey] = set()  # two kinds of other groups can have one key
        while key in parent_of and key not in passed:
            passed.add(key)
            key = parent_of[key]
        found.setdefault(key, []).append(pod)
    return found
