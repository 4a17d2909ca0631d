"""Views of Kueue's kinds for rules. All API versions are read as v1beta2.

Source: apis/kueue/v1beta2 of kubernetes-sigs/kueue v0.19.2. The views omit fields that no rule
reads. Quotas are Fractions, in units of their resource.
"""

from fractions import Fraction
from typing import Any

from msgspec import Struct, field

from policygen.kubernetes.core import LabelSelector, TaintView, TolerationView

POLICY_KINDS = (
    "AdmissionCheck",
    "ClusterQueue",
    "Cohort",
    "LocalQueue",
    "MultiKueueCluster",
    "MultiKueueConfig",
    "ProvisioningRequestConfig",
    "ResourceFlavor",
    "Topology",
    "WorkloadPriorityClass",
)
"""The kinds that administrators write; Kueue itself writes Workloads."""


class FairSharing(Struct, rename="camel", frozen=True):
    """The weight of a queue or cohort in fair sharing."""

    weight: Fraction = Fraction(1)


class FlavorResourceQuota(Struct, rename="camel", frozen=True):
    """The quota of one resource in one flavor."""

    name: str
    nominal_quota: Fraction = Fraction(0)
    borrowing_limit: Fraction | None = None
    """None: no limit."""
    lending_limit: Fraction | None = None
    """None: all of the nominal quota."""


class FlavorQuotas(Struct, rename="camel", frozen=True):
    """The quotas of one flavor."""

    name: str
    resources: tuple[FlavorResourceQuota, ...] = ()


class ResourceGroup(Struct, rename="camel", frozen=True):
    """Resources that get the same flavor."""

    covered_resources: tuple[str, ...] = ()
    flavors: tuple[FlavorQuotas, ...] = ()


class BorrowWithinCohort(Struct, rename="camel", frozen=True):
    """When a borrowing workload may preempt."""

    policy: str = "Never"
    max_priority_threshold: int | None = None


class Preemption(Struct, rename="camel", frozen=True):
    """Which workloads a queue's workloads may preempt."""

    reclaim_within_cohort: str = "Never"
    within_cluster_queue: str = "Never"
    borrow_within_cohort: BorrowWithinCohort | None = None


class FlavorFungibility(Struct, rename="camel", frozen=True):
    """When Kueue tries the next flavor."""

    when_can_borrow: str = "MayStopSearch"
    when_can_preempt: str = "TryNextFlavor"
    preference: str | None = None


class CheckRule(Struct, rename="camel", frozen=True):
    """An admission check and its flavors."""

    name: str
    on_flavors: tuple[str, ...] = ()
    """Empty: all."""


class AdmissionChecksStrategy(Struct, rename="camel", frozen=True):
    """The admission checks of a queue."""

    admission_checks: tuple[CheckRule, ...] = ()


class AdmissionScope(Struct, rename="camel", frozen=True):
    """Whether LocalQueues share by their past usage."""

    admission_mode: str = ""


class ClusterQueueView(Struct, rename="camel", frozen=True):
    """`spec` of a ClusterQueue."""

    cohort_name: str = ""
    queueing_strategy: str = "BestEffortFIFO"
    namespace_selector: LabelSelector | None = None
    """None selects no namespace, an empty selector selects all."""
    resource_groups: tuple[ResourceGroup, ...] = ()
    flavor_fungibility: FlavorFungibility = FlavorFungibility()
    preemption: Preemption | None = None
    admission_checks_strategy: AdmissionChecksStrategy | None = None
    stop_policy: str = "None"
    fair_sharing: FairSharing | None = None
    admission_scope: AdmissionScope | None = None
    concurrent_admission_policy: dict[str, Any] | None = None


class CohortView(Struct, rename="camel", frozen=True):
    """`spec` of a Cohort."""

    parent_name: str = ""
    resource_groups: tuple[ResourceGroup, ...] = ()
    fair_sharing: FairSharing | None = None


class LocalQueueView(Struct, rename="camel", frozen=True):
    """`spec` of a LocalQueue."""

    cluster_queue: str = ""
    stop_policy: str = "None"
    fair_sharing: FairSharing | None = None


class ResourceFlavorView(Struct, rename="camel", frozen=True):
    """`spec` of a ResourceFlavor."""

    node_labels: dict[str, str] = field(default_factory=dict)
    node_taints: tuple[TaintView, ...] = ()
    tolerations: tuple[TolerationView, ...] = ()
    topology_name: str = ""


class TopologyLevel(Struct, rename="camel", frozen=True):
    """One level, from the outermost on."""

    node_label: str


class TopologyView(Struct, rename="camel", frozen=True):
    """`spec` of a Topology."""

    levels: tuple[TopologyLevel, ...] = ()


class WorkloadPriorityClassView(Struct, rename="camel", frozen=True):
    """A WorkloadPriorityClass, which has no `spec`."""

    value: int = 0


class Parameters(Struct, rename="camel", frozen=True):
    """The object that configures an admission check."""

    api_group: str = ""
    kind: str = ""
    name: str = ""


class AdmissionCheckView(Struct, rename="camel", frozen=True):
    """`spec` of an AdmissionCheck."""

    controller_name: str = ""
    parameters: Parameters | None = None


class ProvisioningRequestConfigView(Struct, rename="camel", frozen=True):
    """`spec` of a ProvisioningRequestConfig."""

    managed_resources: tuple[str, ...] = ()
    provisioning_class_name: str = ""


class MultiKueueConfigView(Struct, rename="camel", frozen=True):
    """`spec` of a MultiKueueConfig."""

    clusters: tuple[str, ...] = ()
    quota_management: str = "Manual"


class ClusterSource(Struct, rename="camel", frozen=True):
    """How to connect to a worker cluster; its fields are untyped."""

    cluster_profile_ref: dict[str, Any] | None = None


class MultiKueueClusterView(Struct, rename="camel", frozen=True):
    """`spec` of a MultiKueueCluster."""

    cluster_source: ClusterSource = ClusterSource()
    cluster_profile_ref: dict[str, Any] | None = None
    """The field of v1beta1."""
