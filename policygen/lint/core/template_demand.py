"""What the pods of a template require of a node by their own fields, without what a queue adds."""

from msgspec.structs import replace

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_requests import adjusted, as_pod
from policygen.kubernetes.node_filters import Demand, demand
from policygen.kubernetes.priorities import HIGHEST, of_class
from policygen.kubernetes.runtime_classes import with_runtime_class
from policygen.kubernetes.volumes import with_volumes
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core import resource_names


def own_demand(cluster: Cluster, workload: Workload, template: PodTemplate) -> Demand:
    """The demand of a pod, with the defaults of LimitRanges, its RuntimeClass and its volumes.

    A pod whose class is unknown has the highest priority of users, so that no rule claims what may be false.
    """
    pod = adjusted(cluster, as_pod(template.spec), workload.namespace)
    # container-resource-refused reports the others.
    amounts = {name: it for name, it in pod.requests.items() if not resource_names.refused(name)}
    own = demand(template.spec, amounts)
    own = with_runtime_class(cluster, template.spec, own)
    own = with_volumes(cluster, template.spec, workload.namespace, own)
    priority = of_class(cluster, template.spec.priority_class_name)
    return replace(own, priority=HIGHEST if priority is None else priority)
