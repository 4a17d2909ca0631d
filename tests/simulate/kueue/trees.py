"""Small quota trees and workloads for tests with hand-computed results."""

from policygen.simulate.kueue.queue import FlavorChoice, Group, SimulatedQueue
from policygen.simulate.kueue.quota import QuotaNode, settle
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.kueue.workload import Admission, PodSet, QueuedWorkload


def cohort(name, *children, nominal=0, borrowing=None, lending=None, weight=1.0):
    """A cohort of one flavor and one resource."""
    node = QuotaNode(name, 1, is_queue=False, weight=weight)
    return _filled(node, nominal, borrowing, lending, children)


def queue(name, nominal, borrowing=None, lending=None, weight=1.0):
    """The node of a ClusterQueue of one flavor and one resource."""
    node = QuotaNode(name, 1, is_queue=True, weight=weight)
    return _filled(node, nominal, borrowing, lending, ())


def _filled(node, nominal, borrowing, lending, children):
    node.nominal, node.borrowing_limit, node.lending_limit = [nominal], [borrowing], [lending]
    node.pairs = frozenset([0])
    for child in children:
        child.parent = node
        node.children.append(child)
    return node


def state(root, *nodes, strategies=(), **settings):
    """The queues with these nodes, each with these settings and a LocalQueue n/NAME."""
    settle(root)
    groups = (Group(frozenset(["gpu"]), (FlavorChoice("f", {"gpu": 0}),)),)
    queues = [
        SimulatedQueue(
            name=it.name, node=it, groups=groups, namespaces=frozenset(["n"]), **settings
        )
        for it in nodes
    ]
    local = {f"n/{it.name}": it.name for it in queues}
    return QueueState([("f", "gpu")], queues, local, lambda _flavor, _shape: None, strategies)


def workload(name, queue="a", amount=1, priority=0, created=0.0):
    """A workload of one pod."""
    pods = PodSet("main", 1, (("gpu", amount),))
    return QueuedWorkload(f"n/{name}", name, f"n/{queue}", priority, created, (pods,))


def admit(state, it, at=0.0):
    """Let a workload use its quota."""
    amount = it.pod_sets[0].requests[0][1]
    it.admission = Admission((), ((0, amount),), frozenset([0]), at)
    state.put_back(it)
    state.queue_of(it).workloads[it.name] = it
    return it
