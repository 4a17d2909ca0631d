"""The containers of a pod that use GPUs, and the resources that they need."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policygen.core.finding import Path, dotted
from policygen.core.quoting import quoted
from policygen.kubernetes import accelerators
from policygen.kubernetes.untyped import entries, mapping, mappings, numbered
from policygen.patch.draft import Draft, equal_quantity
from policygen.plan.amounts import CPU
from policygen.plan.pods import PodFields

HALVES = ("limits", "requests")


def using_gpus(template: Mapping[str, Any]) -> list[int]:
    """The indexes of the containers of a pod template that request an accelerator."""
    return [
        number
        for number, it in numbered(template, "spec", "containers")
        if any(True for _ in _accelerators(it))
    ]


def write(draft: Draft, template: Path, needed: PodFields, shares: Sequence[str]) -> Path | None:
    """Write the resources of one pod into its container with GPUs; limits equal requests.

    Returns the path of this container; None if it is not known. The API server copies limits to requests
    that are missing, so they are not written.
    Source: pkg/apis/core/v1/defaults.go, SetDefaults_Pod.

    `shares` are the resources of which the pod gets a share of its node. Of these, the container can have
    another amount, and if it has no amount but the pod has other containers, they stay as they are. If it
    requests such an amount of cpu, it needs no limit: a limit only slows the pod down when cpu is idle.
    """
    resource = needed.resource
    holder = (*template, "spec", "containers")
    found = draft.value(holder)
    if not isinstance(found, list) or not found or not all(isinstance(it, dict) for it in found):
        draft.refuse(
            template,
            f"{dotted(holder)} is not a list of containers, so this is not a complete object",
            "patch the object that it becomes",
        )
        return None
    chosen = [0] if len(found) == 1 else using_gpus(draft.value(template))
    if len(chosen) != 1:
        names = ", ".join(quoted(f"{it.get('name')}") for it in found)
        what = "several of them request GPUs" if chosen else "no container requests GPUs"
        draft.refuse(
            holder,
            f"the pod has the containers {names}, but {what}",
            f"write limits with {resource} only in the container that uses them",
        )
        return None
    at = (*holder, chosen[0])
    for half, name in _accelerators(found[chosen[0]]):
        if name != resource:
            path = (*at, "resources", half, name)
            draft.refuse(
                path,
                f"the container requests {name}, but the pool of the model has {resource}",
                f"write {resource}: {needed.units}",
            )
            return None
    for name, amount in needed.amounts:
        limit, request = (draft.value((*at, "resources", half, name)) for half in HALVES)
        value = amount
        if name in shares:
            is_left = _has_sidecar(draft.value(template)) if request is None else name == CPU
            if limit is None and is_left:
                continue
            written = request if limit is None else limit
            value = amount if written is None else written
        halves = HALVES if limit is None or request is not None else HALVES[:1]
        for half in halves:
            if not (name in shares and draft.value((*at, "resources", half, name)) is not None):
                draft.add((*at, "resources", half, name), value, equal_quantity)
    return at


def _has_sidecar(template: Mapping[str, Any]) -> bool:
    """Whether other containers run beside the one with GPUs."""
    before = mappings(template, "spec", "initContainers")
    others = [it for it in before if it.get("restartPolicy") == "Always"]
    return len(entries(template, "spec", "containers")) + len(others) > 1


def _accelerators(container: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The accelerators that a container requests: limits or requests, and the name."""
    for half in HALVES:
        for name, amount in mapping(container, "resources", half).items():
            if accelerators.is_one(name) and not equal_quantity(amount, 0):
                yield half, name
