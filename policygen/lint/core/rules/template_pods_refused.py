"""The API server accepts a pod template, but refuses the pods that its controller creates from it."""

from policygen.core.quoting import quoted
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import pod_priorities
from policygen.lint.core.pod_templates import named, pods_of_operators
from policygen.lint.core.pod_words import unknown_words
from policygen.lint.core.server_refusals import unsure_pods
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written


def check(facts: Facts) -> Hits:
    """The server checks these fields only in pods.

    Source: pkg/apis/core/validation/validation.go, validateContainersOnlyForPod; plugin/pkg/admission/priority.
    """
    for spec in unsure_pods(facts.cluster):
        if spec.owner.kind == "Pod":
            continue  # pod-field-refused reports it
        for container in spec.containers:
            image = container.data.get("image")
            if isinstance(image, str) and image != image.strip():
                message = f"{named(container)} has image {quoted(image)}, so its pods are refused; remove the spaces around it"
                yield Hit(RULE, message, container.at / "image")
        for at, fault in pod_priorities.conflicts(facts.cluster, spec):
            if spec.data[str(at.path[-1])] != "":  # pod-field-refused reports an empty one
                yield Hit(RULE, f"{fault}, so its pods are refused; remove {at.path[-1]}", at)
    yield from _of_operators(facts)


def _of_operators(facts: Facts) -> Hits:
    """Words in pods of kinds whose schemas do not list the valid ones."""
    for spec in pods_of_operators(facts.cluster):
        for it in unknown_words(spec):
            if it.at != spec.at / "restartPolicy":  # many operators replace it
                message = f"{it.text}, so its pods are refused; {it.advice}"
                yield Hit(RULE, message, it.at, meant=written(it.at, it.meant))


RULE = ObjectRule(
    "template-pods-refused",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Remove the spaces or the field that the PriorityClass sets, or write a word that Kubernetes knows.",
    judges=tuple(kind for kind in KINDS if kind != "Pod"),
    check=check,
    reads=("PriorityClass",),
)
