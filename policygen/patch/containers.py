"""The containers of a pod that use GPUs, and the resources that they need."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import Path, dotted
from policygen.core.quoting import quoted
from policygen.kubernetes import accelerators
from policygen.kubernetes.untyped import mapping, numbered
from policygen.patch.draft import Draft, equal_quantity

HALVES = ("limits", "requests")


def using_gpus(template: Mapping[str, Any]) -> list[int]:
    """The indexes of the containers of a pod template that request an accelerator."""
    return [
        number
        for number, it in numbered(template, "spec", "containers")
        if any(True for _ in _accelerators(it))
    ]


def write(draft: Draft, template: Path, resource: str, amounts: Mapping[str, Any]) -> None:
    """Write the resources of one pod into its container with GPUs; limits equal requests.

    `amounts` has the amount of `resource`, which is that of the GPUs, and of others that are decided.
    """
    holder = (*template, "spec", "containers")
    found = draft.value(holder)
    if not isinstance(found, list) or not found or not all(isinstance(it, dict) for it in found):
        draft.refuse(
            template,
            f"{dotted(holder)} is not a list of containers, so this is not a complete object; patch the "
            "object that it becomes",
        )
        return
    chosen = [0] if len(found) == 1 else using_gpus(draft.value(template))
    if len(chosen) != 1:
        names = ", ".join(quoted(f"{it.get('name')}") for it in found)
        what = "several of them request GPUs" if chosen else "no container requests GPUs"
        draft.refuse(
            holder,
            f"the pod has the containers {names}, but {what}; write limits with {resource} only in "
            "the container that uses them",
        )
        return
    at = (*holder, chosen[0])
    for half, name in _accelerators(found[chosen[0]]):
        if name != resource:
            path = (*at, "resources", half, name)
            draft.refuse(
                path,
                f"the container requests {name}, but the pool of the model has {resource}; write "
                f"{resource}: {amounts[resource]}",
            )
            return
    for name, amount in amounts.items():
        for half in HALVES:
            draft.add((*at, "resources", half, name), amount, equal_quantity)


def _accelerators(container: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The accelerators that a container requests: limits or requests, and the name."""
    for half in HALVES:
        for name, amount in mapping(container, "resources", half).items():
            if accelerators.is_one(name) and not equal_quantity(amount, 0):
                yield half, name
