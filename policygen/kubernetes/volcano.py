"""Views of Volcano's kinds for rules. They omit fields that no rule reads.

Source: volcano.sh/apis v1.14.0, pkg/apis/scheduling/v1beta1, batch/v1alpha1 and topology/v1alpha1.
"""

from fractions import Fraction
from typing import Any

from msgspec import Struct, field

Amounts = dict[str, Fraction]


class Guarantee(Struct, rename="camel", frozen=True):
    """The resources that a queue reserves and never lends."""

    resource: Amounts = field(default_factory=dict)


class QueueView(Struct, rename="camel", frozen=True):
    """`spec` of a Queue."""

    weight: int = 1
    capability: Amounts = field(default_factory=dict)
    deserved: Amounts = field(default_factory=dict)
    guarantee: Guarantee = Guarantee()
    reclaimable: bool = True
    parent: str = ""
    priority: int = 0
    affinity: dict[str, Any] | None = None
    dequeue_strategy: str = ""


class PodGroupView(Struct, rename="camel", frozen=True):
    """`spec` of a PodGroup."""

    min_member: int = 0
    min_task_member: dict[str, int] = field(default_factory=dict)
    min_resources: Amounts | None = None
    queue: str = ""
    priority_class_name: str = ""
    network_topology: dict[str, Any] | None = None


class VolcanoJobView(Struct, rename="camel", frozen=True):
    """`spec` of a Job of Volcano; its tasks are pod templates of a `Workload`."""

    queue: str = ""
    priority_class_name: str = ""
    network_topology: dict[str, Any] | None = None


class HyperNodeView(Struct, rename="camel", frozen=True):
    """`spec` of a HyperNode; its members are untyped."""

    tier: int | None = None
    tier_name: str = ""
    members: tuple[dict[str, Any], ...] = ()
