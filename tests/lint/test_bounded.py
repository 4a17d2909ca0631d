"""If many objects affect each other, findings grow with the objects and not with their pairs."""

import json
from collections import Counter
from datetime import date

import pytest

from policygen.app import lint
from policygen.app.requests import LintRequest

MANY = 60
KUEUE = "kueue.x-k8s.io/v1beta2"


def made(api_version, kind, name, namespace="t", labels=None, **fields):
    metadata = {"name": name, "namespace": namespace, "labels": labels or {}}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata} | fields


def job(number, *, labels=None, annotations=None):
    limits = {"nvidia.com/gpu": 1, "memory": "4Gi"}
    container = {"name": "c", "image": "a", "resources": {"limits": limits}}
    spec = {"restartPolicy": "Never", "containers": [container]}
    template = {"metadata": {"annotations": annotations or {}}, "spec": spec}
    return made("batch/v1", "Job", f"job-{number}", labels=labels, spec={"template": template})


def flavor(name):
    return made(KUEUE, "ResourceFlavor", name, "", spec={"nodeLabels": {"pool": "a"}})


def queue(name, used="f", **spec):
    names = ("cpu", "memory")
    group = {
        "coveredResources": names,
        "flavors": [
            {"name": used, "resources": [{"name": it, "nominalQuota": "9Gi"} for it in names]}
        ],
    }
    spec = {"namespaceSelector": {}, "resourceGroups": [group], **spec}
    return made(KUEUE, "ClusterQueue", name, "", spec=spec)


def quotas():
    hard = {"requests.cpu": 1, "requests.nvidia.com/gpu": 0}
    for number in range(MANY):
        yield made("v1", "ResourceQuota", f"quota-{number}", spec={"hard": hard})
        yield job(number)


def limit_ranges():
    yield from (flavor("f"), queue("q"))
    limits = [{"type": "Container", "max": {"memory": "1Gi"}, "default": {"a.com/gpu": 1}}]
    for number in range(MANY):
        yield made("v1", "LimitRange", f"limits-{number}", spec={"limits": limits})
        yield made(KUEUE, "LocalQueue", f"local-{number}", spec={"clusterQueue": "q"})
        yield job(number, labels={"kueue.x-k8s.io/queue-name": "local-0"})


def flavors():
    for number in range(MANY):
        yield flavor(f"f-{number}")
        yield queue(f"q-{number}", used=f"f-{number}")


def gangs():
    for number in range(MANY):
        spec = {"minMember": 1, "priorityClassName": "p"}
        yield made("scheduling.volcano.sh/v1beta1", "PodGroup", "gang", spec=spec)
        yield job(number, annotations={"scheduling.k8s.io/group-name": "gang"})


def configurations():
    for number in range(MANY):
        weight = {"weight": str(number + 1)}
        scope = {"admissionMode": "UsageBasedAdmissionFairSharing"}
        yield queue(f"q-{number}", cohortName="c", fairSharing=weight, admissionScope=scope)
        file = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
        yield file | {"metadata": {"name": f"a-{number}"}}


@pytest.mark.parametrize("shape", [quotas, limit_ranges, flavors, gangs, configurations])
def test_findings_grow_with_the_objects_and_not_with_their_pairs(shape, tmp_path):
    objects = list(shape())
    file = tmp_path / "list.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), "utf-8")
    report = lint.lint(LintRequest(manifests=(str(file),)), today=date(2026, 11, 21))
    assert report.count("crashed") == 0
    by_rule = Counter(it.rule.name for it in report.findings)
    assert by_rule
    assert max(by_rule.values()) <= 2 * len(objects), by_rule
    related = sum(len(it.related) for it in report.findings)
    assert related <= 10 * max(len(report.findings), len(objects)), related  # one can name all
