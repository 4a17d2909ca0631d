"""Jobs that arrive in a simulation.

Times are seconds from its start: in a snapshot from the time when it was taken, so earlier times are
negative.
"""

from collections.abc import Mapping

from msgspec import Struct, field

from policygen.kubernetes.core import LabelSelector
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.kueue.workload import QueuedWorkload


class PodBatch(Struct, frozen=True, eq=False):
    """Equal pods of a job.

    The flavors of Kueue add node selectors and tolerations, so their final shape is made when the job is
    admitted. Jobs whose pods are equal share a shape if they share `spec` and `labels`.
    """

    name: str
    """Of the pod set."""
    count: int
    spec: PodSpec
    """With the defaults of LimitRanges, and the overhead of its RuntimeClass."""
    labels: Mapping[str, str] = field(default_factory=dict)
    selector: LabelSelector | None = None
    """That of its ReplicaSet or StatefulSet, which spreads the pods over nodes; None: it has none."""


class Arrival(Struct, frozen=True, eq=False):
    """A job that arrives, or that already runs."""

    name: str
    """Namespace and name of the object that the user created."""
    kind: str
    team: str
    at: float
    duration: float | None
    """How long it must run without an interruption; None: until the simulation ends."""
    workload: QueuedWorkload | None
    """None: Kueue does not manage it. With an admission, it holds quota from the start."""
    pods: tuple[PodBatch, ...]
    priority: int = 0
    """Of its pods, for kube-scheduler."""
    nodes: tuple[str, ...] = ()
    """The nodes of pods that run from the start, one for each pod, in the order of `pods`."""
    refusal: str = ""
    """Why it never starts, if a configuration outside of the schedulers decides that; empty: it can start."""
    assumed: bool = False
    """Whether its duration is an assumption."""
