"""Changes that the API server refuses because of its own code.

Sources: pkg/apis/{batch,core}/validation and pkg/registry/batch/job/strategy.go of k8s.io/kubernetes
1.36.3.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from policygen.api_validation.fields import mapping, mappings, strings
from policygen.api_validation.updates import service, storage
from policygen.api_validation.updates.states import Data, differences
from policygen.api_validation.updates.update import (
    RECREATE,
    ObjectUpdate,
    RefusedChange,
    condition,
)
from policygen.core.finding import Path, at_path
from policygen.core.versions import Minor

JOB_RESOURCES_SINCE: Minor = (1, 36)
"""Since this release, a suspended Job may change the resources of its containers (feature gate
MutablePodResourcesForSuspendedJobs)."""


def _quota(update: ObjectUpdate) -> Iterator[RefusedChange]:
    path = ("spec", "scopes")
    old, new = ({*strings(it, *path)} for it in (update.old, update.new))
    if old != new:
        yield RefusedChange(path, "scopes is immutable", RECREATE)


def _immutable(update: ObjectUpdate) -> Iterator[RefusedChange]:
    """ConfigMaps and Secrets that are marked as immutable."""
    if update.old.get("immutable") is True:
        for name in ("data", "stringData", "binaryData", "immutable"):
            yield from update.refused((name,), "the object has immutable: true")


_TEMPLATE: Path = ("spec", "template")
_DIRECTIVES = tuple(
    (*_TEMPLATE, *path)
    for path in (
        ("metadata", "labels"),
        ("metadata", "annotations"),
        ("spec", "nodeSelector"),
        ("spec", "tolerations"),
        ("spec", "schedulingGates"),
        ("spec", "affinity", "nodeAffinity"),
    )
)
"""What a suspended Job that runs no pod may change in its template."""


def _job(update: ObjectUpdate) -> Iterator[RefusedChange]:
    old, new = (mapping(it, "spec") for it in (update.old, update.new))
    completions = update.changed(("spec", "completions"))
    if completions and old.get("completionMode") != "Indexed":
        yield RefusedChange(completions[0], "completions is immutable", RECREATE)
    elif completions and new.get("completions") not in (None, new.get("parallelism", 1)):
        why = "completions of an Indexed Job can only change together with parallelism"
        yield RefusedChange(completions[0], why, "set parallelism to the same number")
    directives = _takes_directives(update.old, update.kubernetes)
    resources = directives and update.kubernetes >= JOB_RESOURCES_SINCE

    def may_change(path: Path) -> bool:
        if directives and any(path[: len(it)] == it for it in _DIRECTIVES):
            return True
        inside = path[len(_TEMPLATE) :]
        in_container = inside[:1] == ("spec",) and inside[1:2] in {
            ("containers",),
            ("initContainers",),
        }
        return resources and in_container and inside[3:4] == ("resources",)

    why = "the pod template of a Job is immutable"
    yield from update.refused(_TEMPLATE, why, but=may_change)


def _takes_directives(job: Data, kubernetes: Minor) -> bool:
    """Whether a Job may change scheduling directives: it is suspended, and no pod of it runs."""
    status = mapping(job, "status")
    started = bool(status.get("startTime"))
    if kubernetes >= JOB_RESOURCES_SINCE and condition(job, "Suspended"):
        started = False
    return at_path(job, ("spec", "suspend")) is True and not started and not status.get("active")


def _pod(update: ObjectUpdate) -> Iterator[RefusedChange]:
    old, new = (mapping(it, "spec") for it in (update.old, update.new))
    gated = bool(old.get("schedulingGates"))
    deadline, before = (it.get("activeDeadlineSeconds") for it in (new, old))
    if isinstance(before, int) and not (isinstance(deadline, int) and deadline <= before):
        why = "activeDeadlineSeconds of a Pod can only be set or reduced"
        yield RefusedChange(("spec", "activeDeadlineSeconds"), why, RECREATE)
    kept = mappings(new, "tolerations")
    if not all(_tolerated(it, kept) for it in mappings(old, "tolerations")):
        why = "a Pod keeps its tolerations, apart from tolerationSeconds; others can be added"
        yield RefusedChange(("spec", "tolerations"), why, RECREATE)
    gates = [it.get("name") for it in mappings(old, "schedulingGates")]
    if not all(it.get("name") in gates for it in mappings(new, "schedulingGates")):
        why = "schedulingGates of a Pod can only be removed"
        yield RefusedChange(("spec", "schedulingGates"), why, RECREATE)
    selector = mapping(new, "nodeSelector")
    added = gated and all(selector.get(k) == v for k, v in mapping(old, "nodeSelector").items())
    narrowed = gated and _is_narrowed(old, new)

    def may_change(path: Path) -> bool:
        name = path[1] if len(path) > 1 else ""
        return (
            name in {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
            or (name in {"containers", "initContainers"} and path[3:] == ("image",))
            or (name == "nodeSelector" and added)
            or (path[1:3] == ("affinity", "nodeAffinity") and narrowed)
        )

    yield from update.refused(("spec",), "this field of a Pod is immutable", but=may_change)


_ADDED_TOLERATIONS = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}
"""Tolerations that the server adds again to every Pod without them (DefaultTolerationSeconds)."""


def _tolerated(old: Data, tolerations: Iterable[Data]) -> bool:
    plain = {**old, "tolerationSeconds": None}
    return old.get("key") in _ADDED_TOLERATIONS or any(
        not any(differences(plain, {**it, "tolerationSeconds": None}, {}, ())) for it in tolerations
    )


def _is_narrowed(old: Data, new: Data) -> bool:
    """Whether required node affinity only got further expressions."""
    path = (
        "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    )  # fmt: skip
    terms, others = (mappings(it, *path) for it in (old, new))
    if not terms:
        return True
    return len(terms) == len(others) and all(
        mappings(other, key)[: len(mappings(term, key))] == mappings(term, key)
        for term, other in zip(terms, others, strict=True)
        for key in ("matchExpressions", "matchFields")
    )


CODE: Mapping[tuple[str, str], Callable[[ObjectUpdate], Iterator[RefusedChange]]] = {
    ("", "ResourceQuota"): _quota,
    ("", "ConfigMap"): _immutable,
    ("", "Secret"): _immutable,
    ("", "Pod"): _pod,
    ("batch", "Job"): _job,
    **storage.CODE,
    ("", "Service"): service.service,
}
"""Kinds for which the API server has code."""
