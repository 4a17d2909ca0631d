"""What Volcano refuses in the pods of its Jobs, and the API server does not.

Source: pkg/webhooks/admission/jobs/validate of Volcano 1.14.1, which runs ValidatePodTemplateSpec of
Kubernetes 1.34 with its default options.
"""

import re
from collections.abc import Iterator

from policygen.api_validation.metadata import is_subdomain
from policygen.api_validation.workload_code import FORMS
from policygen.core.finding import FaultAt, at_path
from policygen.core.quoting import quoted
from policygen.lint.core.pod_templates import Part, PodPart, named

_VARIABLE = re.compile(r"(?!\.\.|\.\Z)[-._a-zA-Z][-._a-zA-Z0-9]*")
_NULLED = frozenset({"ephemeral", "projected"})
"""Volumes in which Volcano writes null for a missing field, which the schema of its CRD refuses."""
_POLICIES = ("Always", "Never", "OnFailure")


def of_pod(spec: PodPart) -> Iterator[FaultAt]:
    """Refused fields in a pod of a Job of Volcano."""
    for container in spec.containers:
        yield from _container(container)
    config = spec.under("dnsConfig")
    searches = config.data.get("searches")
    for index, search in enumerate(searches if isinstance(searches, list) else ()):
        underscored = isinstance(search, str) and ("_" in search or search == ".")
        if underscored and not is_subdomain(search.removesuffix(".")):
            yield (
                config.at.to("searches", index),
                f'{spec.owner} searches the domain {quoted(search)}, which Volcano refuses; write a domain without "_"',
            )
    for volume in spec.items("volumes"):
        image = volume.data.get("image")
        if isinstance(image, dict) and not image.get("pullPolicy"):
            yield (
                volume.at / "image",
                f"{spec.owner} has an image volume without pullPolicy, which Volcano refuses; write image.pullPolicy",
            )
        if not _NULLED.isdisjoint(volume.data) and _is_rewritten(spec):
            yield from _claim(volume.under("ephemeral").under("volumeClaimTemplate").under("spec"))
            projected = volume.data.get("projected")
            if isinstance(projected, dict) and projected.get("sources") is None:
                yield (
                    volume.at / "projected",
                    f"{spec.owner} has a projected volume without sources, which Volcano refuses; write sources",
                )


def _is_rewritten(spec: PodPart) -> bool:
    """Whether Volcano writes a default into the task. Source: pkg/webhooks/admission/jobs/mutate, mutateSpec."""
    task = at_path(spec.owner.object.data, spec.steps[:-2])
    if not isinstance(task, dict) or task.get("minAvailable") is None:
        return True
    return not (task.get("name") and task.get("maxRetry"))


def _claim(claim: Part) -> Iterator[FaultAt]:
    """The fault of a source without apiGroup."""
    for field in ("dataSource", "dataSourceRef"):
        source = claim.under(field).data
        is_claim = source.get("kind") == "PersistentVolumeClaim"
        if is_claim and source.get("apiGroup") is None:  # other kinds: `claim_templates`
            yield (
                claim.at / field,
                f'{claim.owner} has a claim with {field} without apiGroup, which Volcano refuses; write apiGroup: ""',
            )


def _container(container: Part) -> Iterator[FaultAt]:
    accepted = FORMS["name of an environment variable"].takes
    for field, key in (("env", "name"), ("envFrom", "prefix")):
        for entry in container.items(field) if field in container.data else ():
            name = entry.data.get(key)
            if isinstance(name, str) and accepted(name) and not _VARIABLE.fullmatch(name):
                yield (
                    entry.at / key,
                    f'{named(container)} has {field} with {key} {quoted(name)}, which Volcano refuses; write letters, digits, "-", "_" and ".", not beginning with a digit',
                )
    first = container.steps[0] == "initContainers"
    policy = container.data.get("restartPolicy")
    if not first and policy in _POLICIES:
        yield (
            container.at / "restartPolicy",
            f"{named(container)} has restartPolicy {policy}, which Volcano refuses; remove restartPolicy",
        )
    if first and container.data.get("resizePolicy"):
        yield (
            container.at / "resizePolicy",
            f"{named(container)} is an init container with a resizePolicy, which Volcano refuses; remove resizePolicy",
        )
