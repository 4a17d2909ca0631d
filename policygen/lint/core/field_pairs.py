"""Combinations of fields in workloads and pods that API servers refuse.

Source: pkg/apis/{core,apps,batch}/validation/validation.go of Kubernetes 1.36.3.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import ceil

from policygen.core.amounts import HUGE_PAGES, amount_of, readable
from policygen.core.finding import FaultAt
from policygen.core.label_grammar import key_fault
from policygen.core.quoting import quoted
from policygen.core.standard_resources import known_to_containers, whole
from policygen.kubernetes import accelerators
from policygen.kubernetes.untyped import mapping, read_amount
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core import (
    job_policies,
    placement_fields,
    pod_handlers,
    pod_rights,
    pod_variables,
    pod_volumes,
    windows_pods,
)
from policygen.lint.core.pod_templates import Part, PodPart, named

_PROGRESS_S = 600
"""The default of a Deployment's progressDeadlineSeconds."""
_STRATEGIES = {"Deployment": "strategy", "StatefulSet": "updateStrategy"}
_ROLLING = "RollingUpdate"
_OF_PODS = ("cpu", "memory")
_HOST_SPACES = ("hostNetwork", "hostPID", "hostIPC")
"""Namespaces of the node that pods with users of their own cannot use."""
_PARTS = tuple(
    (frozenset(it.FIELDS), it.of_pod)
    for it in (
        placement_fields,
        pod_handlers,
        pod_variables,
        pod_volumes,
        pod_rights,
        windows_pods,
    )
)
"""The fields of pods and containers that a check needs, and the check."""
_VALIDATED = ("", "apps", "batch")
"""Groups whose pod templates the API server validates."""


def of_workload(workload: Workload) -> Iterator[FaultAt]:
    """Refused combinations in a Deployment, StatefulSet, Job or CronJob."""
    for template in workload.templates:
        resources = template.spec.resources
        if (resources.requests or resources.limits) and workload.object.group in _VALIDATED:
            yield from _pod_level(workload, template)
    group = workload.object.group
    if group == "apps":
        yield from _rollout(Part(workload, workload.spec, ("spec",)))
    elif group == "batch":
        spec = Part(workload, workload.spec, ("spec",))
        above = spec.under("jobTemplate").under("spec") if workload.kind == "CronJob" else spec
        yield from _job(above, made_by=workload.kind == "CronJob")


def _rollout(spec: Part) -> Iterator[FaultAt]:
    workload = spec.owner
    if workload.kind == "Deployment":
        ready, progress = (
            spec.data.get(name, default)
            for name, default in (("minReadySeconds", 0), ("progressDeadlineSeconds", _PROGRESS_S))
        )
        if isinstance(ready, int) and isinstance(progress, int) and 0 <= progress <= ready:
            yield (
                spec.at / "progressDeadlineSeconds",
                f"{workload} has progressDeadlineSeconds {progress}, which is refused, because minReadySeconds is {ready}; write {ready + 1} or more",
            )
    field = _STRATEGIES.get(workload.kind, "")
    if field not in spec.data:
        return
    strategy = spec.under(field)
    kind = strategy.data.get("type")
    if isinstance(kind, str) and kind not in ("", _ROLLING) and strategy.data.get("rollingUpdate"):
        yield (
            strategy.at / "rollingUpdate",
            f"{workload} has {field} {kind} with a rollingUpdate, which is refused; remove rollingUpdate",
        )


def _job(spec: Part, *, made_by: bool) -> Iterator[FaultAt]:
    workload = spec.owner
    if spec.data.get("manualSelector") is True and (made_by or not spec.data.get("selector")):
        yield (
            spec.at / "manualSelector",
            f"{workload} has a manualSelector, which is refused; remove manualSelector"
            if made_by
            else f"{workload} has a manualSelector without a selector, which is refused; remove manualSelector, or write selector",
        )
    yield from job_policies.of_job(spec)


def of_pod(spec: PodPart) -> Iterator[FaultAt]:
    """Refused combinations in a pod."""
    if "resources" in spec.data:
        yield from _resources(spec)
    if "overhead" in spec.data:
        yield from _overhead(spec.under("overhead"))
    alone = spec.data.get("dnsPolicy") == "None"
    if alone and not mapping(spec.data, "dnsConfig").get("nameservers"):
        yield (
            spec.at / "dnsPolicy",
            f"{spec.owner} has dnsPolicy None without nameservers, which is refused; write dnsConfig.nameservers",
        )
    fields = {*spec.data}.union(*(it.data for it in spec.containers))
    for needed, check in _PARTS:
        if not needed.isdisjoint(fields):
            yield from check(spec)
    for name in _HOST_SPACES if spec.data.get("hostUsers") is False else ():
        if spec.data.get(name) is True:
            yield (
                spec.at / name,
                f"{spec.owner} has {name} with hostUsers: false, which is refused; remove one of them",
            )
    for container in spec.containers:
        yield from _container(container)


def _resources(spec: PodPart) -> Iterator[FaultAt]:
    """Resources that a pod cannot have. Source: validatePodResources."""
    resources = spec.under("resources")
    yield from _huge_pages(spec, resources)
    for part in (resources.under("requests"), resources.under("limits")):
        for name in part.data:
            if name not in _OF_PODS and not name.startswith(HUGE_PAGES):
                yield (
                    (part.at / name).on_key(),
                    f"{spec.owner} has {quoted(name)} in the resources of the pod, which is refused; write {quoted(name)} in the resources of a container",
                )


def _huge_pages(spec: PodPart, resources: Part) -> Iterator[FaultAt]:
    """Huge pages in the resources of the pod."""
    requests, limits = resources.under("requests"), resources.under("limits")
    for part in (requests, limits):
        for name, amount in part.data.items():
            if not name.startswith(HUGE_PAGES):
                continue
            fault = ""
            if name == HUGE_PAGES or key_fault(name):
                fault = (
                    f"{quoted(name)}, which is not a resource; write a size, such as hugepages-2Mi"
                )
            elif _is_broken(name, amount):
                fault = f"{name} {amount}, which is refused; write a multiple of {name.removeprefix(HUGE_PAGES)}"
            elif (read_amount(amount) or 0) < 0:
                fault = f"{name} {amount}, which is refused; write 0 or more"
            elif part is requests and read_amount(limits.data.get(name)) != read_amount(amount):
                fault = f"a request of {name} that differs from its limit, which is refused; write the same amount in requests and limits"
            if fault:
                yield (part.at / name).on_key(), f"the resources of {spec.owner} have {fault}"


def _pod_level(workload: Workload, template: PodTemplate) -> Iterator[FaultAt]:
    """Cpu and memory of the pod against those of its containers.

    Source: validatePodResourceConsistency; pkg/apis/core/v1/defaults.go, setDefaultPodRequests.
    """
    resources, spec = template.spec.resources, template.spec
    for name in _OF_PODS:
        request, limit = resources.requests.get(name), resources.limits.get(name)
        of_containers = spec.of_containers().get(name)
        at = template.at.to("spec", "resources")
        for field, amount in (("requests", request), ("limits", limit)):
            if amount is not None and amount < 0:
                yield (
                    at.to(field, name),
                    f"the resources of {workload} have {amount_of(name, amount)} in {field}, which is refused; write 0 or more",
                )
        if request is not None and of_containers is not None and request < of_containers:
            yield (
                at.to("requests", name),
                f"{workload} requests {amount_of(name, request, of_containers)} for the pod, but {readable(name, of_containers, request)} for its containers, which is refused; request at least the sum of the containers",
            )
        if request is None:
            request = of_containers
        if limit is not None and request is not None and request > limit:
            yield (
                at.to("limits", name),
                f"{workload} limits the pod to {amount_of(name, limit, request)}, but requests {readable(name, request, limit)}, which is refused; raise the limit of the pod",
            )
        containers = (*spec.init_containers, *spec.containers)
        most = max(
            (it.resources.limits.get(name, Fraction(0)) for it in containers), default=Fraction(0)
        )
        if limit is not None and most > limit and (request is None or request <= limit):
            yield (
                at.to("limits", name),
                f"{workload} limits the pod to {amount_of(name, limit, most)}, but one of its containers to {readable(name, most, limit)}, which is refused; raise the limit of the pod",
            )


def _overhead(overhead: Part) -> Iterator[FaultAt]:
    """Source: pkg/apis/core/validation/validation.go, validateOverhead."""
    pages = [name for name in overhead.data if name.startswith(HUGE_PAGES)]
    if pages and not {"cpu", "memory"} & overhead.data.keys():
        yield (
            overhead.at / pages[0],
            f"{overhead.owner} has an overhead of {pages[0]} without cpu or memory, which is refused; write cpu or memory too",
        )
    for name, value in overhead.data.items():
        fault = ""
        if key_fault(name) or not known_to_containers(name):
            fault = f"an overhead of {quoted(name)}, which is refused; write cpu or memory"
        elif _is_broken(name, value):
            fault = f"an overhead of {name} {value}, which is refused; write a multiple of {name.removeprefix(HUGE_PAGES)}"
        elif (amount := read_amount(value)) is not None and amount < 0:
            fault = f"an overhead of {name} {value}, which is refused; write 0 or more"
        elif _is_fraction(value) and whole(name):
            fault = f"an overhead of {name} {value}, which is refused; write a whole number"
        if fault:
            yield overhead.at / name, f"{overhead.owner} has {fault}"


def _container(container: Part) -> Iterator[FaultAt]:
    context = container.data.get("securityContext")
    if (
        isinstance(context, dict)
        and context.get("privileged") is True
        and context.get("allowPrivilegeEscalation") is False
    ):
        yield (
            container.at.to("securityContext", "allowPrivilegeEscalation"),
            f"{named(container)} has privileged: true and allowPrivilegeEscalation: false, which is refused; remove one of them",
        )
    image = container.data.get("image")
    if isinstance(image, str) and image != image.strip() and container.owner.kind == "Pod":
        yield (
            container.at / "image",
            f"{named(container)} has image {quoted(image)}, which is refused; remove the spaces around it",
        )
    resources = container.data.get("resources")
    amounts = resources if isinstance(resources, dict) else {}
    seen: set[str] = set()
    for field in ("limits", "requests") if amounts else ():
        found = amounts.get(field)
        for name, amount in found.items() if isinstance(found, dict) else ():
            if not _is_restricted(name):
                continue
            advice = ""
            if _is_broken(name, amount):
                advice = f"a multiple of {name.removeprefix(HUGE_PAGES)}"
            elif _has_whole_amounts(name) and _is_fraction(amount):
                advice = "a whole number"
            if advice and name not in seen:
                seen.add(name)
                yield (
                    container.at.to("resources", field, name),
                    f"{named(container)} has {name} {amount}, which is refused; write {advice}",
                )


@lru_cache(1 << 12)  # few names, but each container has some
def _is_restricted(name: str) -> bool:
    """Whether some amounts of a resource are not valid, other than of cpu and memory."""
    return name.startswith(HUGE_PAGES) or _has_whole_amounts(name)


def _has_whole_amounts(name: str) -> bool:
    """Whether amounts of a resource must be integers. Of GPUs, `gpu-amount-fractional` reports others."""
    return whole(name) and not accelerators.is_one(name)


def _is_fraction(amount: object) -> bool:
    number = read_amount(amount)
    return number is not None and number.denominator != 1


def _is_broken(name: str, amount: object) -> bool:
    """Whether an amount of huge pages is not a multiple of the page size."""
    if not name.startswith(HUGE_PAGES):
        return False
    size, total = read_amount(name.removeprefix(HUGE_PAGES)), read_amount(amount)
    if size is None or total is None:
        return False
    return size > 0 and ceil(total) > 0 and ceil(total) % size != 0
