"""Resources that are accelerators such as GPUs, and the pods that request them."""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import Container, PodSpec, PodTemplate, Workload

_NAME = re.compile(
    r".+/(v?gpu|vgpu-number|gpu[._-].*|mig-.*|tpu|gaudi|neuron|neuroncore|neurondevice|i915|xe|"
    r"npu|npu-core|ascend.*|mlu.*|dcu.*)",
    re.IGNORECASE,
)


@cache
def is_one(resource: str) -> bool:
    """Whether a resource is an accelerator by its name."""
    return _NAME.fullmatch(resource) is not None and not resource.startswith(
        ("requests.", "limits.", "count/")
    )


def gpus_of(amounts: Mapping[str, Fraction] | Mapping[str, int]) -> int:
    """All accelerators among amounts of resources."""
    return int(sum(amount for name, amount in amounts.items() if is_one(name)))


def unit_of(resources: Iterable[str]) -> str:
    """What one accelerator of all these resources is: `GPU`, `MIG instance`, `GPU share`, or `accelerator`."""
    units = {_unit(it) for it in resources if is_one(it)}
    return units.pop() if len(units) == 1 else "accelerator" if units else "GPU"


def _unit(resource: str) -> str:
    name = resource.partition("/")[2].lower()
    if name.startswith("mig-"):
        return "MIG instance"
    if name.endswith(".shared"):
        return "GPU share"  # as NVIDIA's device plugin calls time-sliced replicas
    return "GPU" if "gpu" in name else "accelerator"


def requested(cluster: Cluster, template: PodTemplate) -> Mapping[str, Fraction]:
    """The accelerators that one pod of a template of the cluster requests."""
    return cluster.derive(_requested)[template]


def users(cluster: Cluster) -> tuple[tuple[Workload, PodTemplate, Mapping[str, Fraction]], ...]:
    """The pod templates that request accelerators, with their workloads and these requests."""
    return cluster.derive(_users)


def _users(cluster: Cluster) -> tuple[tuple[Workload, PodTemplate, Mapping[str, Fraction]], ...]:
    return tuple(
        (workload, template, found)
        for workload in cluster.workloads
        for template in workload.templates
        if (found := requested(cluster, template))
    )


_NOTHING: Mapping[str, Fraction] = {}


def _requested(cluster: Cluster) -> Mapping[PodTemplate, Mapping[str, Fraction]]:
    return {
        template: {
            name: amount
            for name, amount in template.spec.requests.items()
            if is_one(name) and amount.numerator > 0
        }
        if _names_one(template.spec)
        else _NOTHING
        for workload in cluster.workloads
        for template in workload.templates
    }


def _names_one(spec: PodSpec) -> bool:
    """Whether a pod names an accelerator. Pod-level resources have none."""
    return any(map(has_one, (*spec.containers, *spec.init_containers))) or any(
        map(is_one, spec.overhead)
    )


def has_one(container: Container) -> bool:
    """Whether a container names an accelerator in its requests or limits."""
    own = container.resources
    return any(map(is_one, own.limits)) or any(map(is_one, own.requests))
