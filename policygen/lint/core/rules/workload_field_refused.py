"""A field of a pod or workload has a value that the API server refuses."""

import re

from policygen.api_validation import workload_code
from policygen.api_validation.refusal import Reason
from policygen.core.finding import Path, at_path
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.lint.core import field_pairs, pod_templates
from policygen.lint.core.pod_templates import Part
from policygen.lint.core.server_refusals import refused, unsure_pods
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_ADDRESSES = ("hostAliases", "dnsConfig")
_ZEROS = re.compile(r"\b0+(?=[0-9])")


def check(facts: Facts) -> Hits:
    """Source: the recorded answers of a running API server, `schemas/cluster/code.json`; `field_pairs`."""
    found = facts.cluster.derive(refused)
    accepted = found.accepted  # `workload_code` finds no fault in these
    of_type = {it.at for it in found.found.get(Reason.TYPE, ())}
    for spec in unsure_pods(facts.cluster):
        pairs = [Hit(RULE, message, at) for at, message in field_pairs.of_pod(spec)]
        yield from pairs
        if spec.owner.at not in accepted:
            faults = _pod(spec, images="container-without-image" not in facts.run)
            reported = of_type.union(it.at for it in pairs)
            yield from (it for it in faults if it.at not in reported)
    for workload in facts.cluster.workloads:
        unchecked = workload.kind != "Pod" and workload.at not in accepted
        if unchecked and workload.object.group != VOLCANO_BATCH:
            kind = f"{workload.object.api_version} {workload.kind}"
            for path, message in workload_code.faults(workload.spec, kind, workload):
                at = workload.at.to("spec", *path)
                if at not in of_type:  # `wrong-type` reports it
                    yield Hit(RULE, message, at)
        yield from (Hit(RULE, message, at) for at, message in field_pairs.of_workload(workload))


def _pod(spec: Part, *, images: bool) -> Hits:
    """The faults of a pod spec; missing images only if no other rule reports them."""
    for path, message in workload_code.faults(spec.data, workload_code.POD, spec.owner):
        if spec.owner.kind == "StatefulSet" and path == ("hostname",):
            continue  # its pods use their own names as hostname, so the server accepts any value
        value = at_path(spec.data, path)
        if spec.owner.object.group == VOLCANO_BATCH and _is_legacy_address(path, value):
            continue  # the code of Kubernetes 1.34, which Volcano runs, accepts it
        if not images and path[-1] == "image" and not value:
            continue
        yield Hit(RULE, message, spec.at.to(*path))


def _is_legacy_address(path: Path, value: object) -> bool:
    """Whether a value is an IPv4 address with zeros before its numbers."""
    without = _ZEROS.sub("", value) if isinstance(value, str) else ""
    return path[0] in _ADDRESSES and workload_code.FORMS["IP address"].takes(without)


RULE = ObjectRule(
    "workload-field-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the value that the finding names.",
    judges=pod_templates.KINDS,
    check=check,
)
