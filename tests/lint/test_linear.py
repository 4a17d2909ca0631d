"""The work of a lint grows linearly with the number of objects, measured in executed lines."""

import json
from collections import Counter
from datetime import date

import pytest

from policygen.app import lint
from policygen.lint.core import server_refusals
from tests.counting import counted

FEW, MANY = 40, 400
"""Teams of six objects each."""
KUEUE = "kueue.x-k8s.io/v1beta2"


def made(api_version, kind, name, namespace=None, labels=None, **fields):
    metadata = {"name": name, "labels": labels or {}}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata} | fields


def team(number, slip):
    """A team's objects; with `slip`, each reference is misspelt in another way."""
    name = f"team-{number}"
    names = ["cpu", "nvidia.com/gpu"]
    resources = [{"name": each, "nominalQuota": str(4 + number % 5)} for each in names]
    flavors = [{"name": f"a100{slip}", "resources": resources}]
    container = {"name": "main", "image": "a", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    if slip:
        template["spec"] |= {"priorityClassName": f"low{slip}", "nodeSelector": {"pool": slip}}
    queue = {"kueue.x-k8s.io/queue-name": f"q{slip}"}
    yield made("v1", "Namespace", name, labels={"kubernetes.io/metadata.name": name})
    yield made(KUEUE, "Cohort", f"cohort-{number}", spec={})
    yield made(
        KUEUE,
        "ClusterQueue",
        name,
        spec={
            "cohortName": f"cohort-{number}{slip}",
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": names, "flavors": flavors}],
        },
    )
    yield made(KUEUE, "LocalQueue", "q", name, spec={"clusterQueue": f"{name}{slip}"})
    yield made("batch/v1", "Job", "job", name, queue, spec={"suspend": True, "template": template})
    allocatable = {"cpu": "64", "nvidia.com/gpu": "8"}
    labels = {"pool": "a100", "kubernetes.io/hostname": f"n{number}"}
    yield made("v1", "Node", f"n{number}", labels=labels, status={"allocatable": allocatable})


def written(folder, teams, *, spoiled):
    objects = [
        made(KUEUE, "ResourceFlavor", "a100", spec={"nodeLabels": {"pool": "a100"}}),
        made("scheduling.k8s.io/v1", "PriorityClass", "low", value=1),
        *(it for number in range(teams) for it in team(number, f"-{number}x" if spoiled else "")),
    ]
    file = folder / f"{teams}.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), "utf-8")
    return file


def steps(file):
    """The number of executed Python lines of a lint, and its findings by rule."""
    settings = lint.LintRequest(manifests=(str(file),))
    count, report = counted(lambda: lint.lint(settings, today=date(2026, 11, 21)))
    assert not [it for it in report.rules if it.verdict == "crashed"]
    return count, Counter(it.rule.name for it in report.findings)


@pytest.mark.parametrize("spoiled", [False, True])
def test_ten_times_the_objects_are_ten_times_the_work(tmp_path, monkeypatch, spoiled):
    monkeypatch.setattr(server_refusals, "MANY", FEW)
    few, many = (written(tmp_path, teams, spoiled=spoiled) for teams in (FEW, MANY))
    steps(few), steps(many)  # what is made once is made
    (count, found), (more, told) = steps(few), steps(many)
    assert more / count < 11, (count, more)
    assert bool(found) == spoiled
    for rule in found:
        assert told[rule] in {found[rule], found[rule] * MANY // FEW}


def open_flavors(folder, count):
    """The same number of nodes and flavors; each flavor matches all nodes and has a queue."""
    objects = []
    for number in range(count):
        name = f"team-{number}"
        resources = [{"name": "cpu", "nominalQuota": "4"}]
        groups = [
            {"coveredResources": ["cpu"], "flavors": [{"name": name, "resources": resources}]}
        ]
        status = {"allocatable": {"cpu": "64"}}
        spec = {"namespaceSelector": {}, "resourceGroups": groups}
        objects += [
            made("v1", "Node", name, labels={"kubernetes.io/hostname": name}, status=status),
            made(KUEUE, "ResourceFlavor", name, spec={}),
            made(KUEUE, "ClusterQueue", name, spec=spec),
            made("v1", "Namespace", name, labels={"kubernetes.io/metadata.name": name}),
            made(KUEUE, "LocalQueue", "q", name, spec={"clusterQueue": name}),
        ]
    file = folder / f"open-{count}.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), "utf-8")
    return file


def test_flavors_without_labels_cost_no_more_with_more_nodes(tmp_path, monkeypatch):
    monkeypatch.setattr(server_refusals, "MANY", FEW)
    few, many = (open_flavors(tmp_path, count) for count in (FEW, MANY))
    steps(few), steps(many)  # what is made once is made
    (count, found), (more, told) = steps(few), steps(many)
    assert more / count < 11, (count, more)
    assert not found
    assert not told
