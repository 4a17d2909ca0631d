"""One field of the sets of `batch_manifests` is deleted or changed: one finding, at the cause."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.lint.linting import findings
from tests.lint.test_batch_manifests import KUEUE, MANIFESTS, VOLCANO

Change = Callable[[Any, Any], None]
"""Changes a key of a mapping, or an entry of a list."""


def deleted(holder, key):
    del holder[key]


def renamed(name):
    def change(holder, key):
        items = [(name if it == key else it, value) for it, value in holder.items()]
        holder.clear()
        holder.update(items)

    return change


def written(value):
    def change(holder, key):
        holder[key] = value(holder[key]) if callable(value) else value

    return change


def times(factor):
    return written(lambda value: value * factor)


MILLI = written(lambda value: f"{value}m")
UPPER = written(str.upper)
GPU = "nvidia.com/gpu"
GROUP = ("spec", "resourceGroups", 0)
FLAVOR = (*GROUP, "flavors", 0)
QUOTA = (*FLAVOR, "resources", 2)
LIMITS = ("spec", "template", "spec", "containers", 0, "resources", "limits")
LEVELS = ("spec", "levels")
TOPOLOGY = "topology.yaml"
NO_QUOTA = "no-quota-anywhere"
CASES: dict[str, dict[str, list[tuple[str, tuple[Any, ...], Change, str]]]] = {
    TOPOLOGY: {
        "a level of a Topology": [
            ("Topology racks", (*LEVELS, 0, "nodeLabel"), written("rakc"), "node-without-topology-level"),
            ("Topology racks", (*LEVELS, 1, "nodeLabel"), written("kubernetes.io/hostnaem"), "node-without-topology-level"),
            ("Node a1", ("metadata", "labels", "rack"), deleted, "node-without-topology-level"),
            ("Node h1", ("metadata", "labels", "rack"), renamed("rcak"), "node-label-misspelt"),
        ],
        "resources of several flavors": [
            ("ClusterQueue vision", (*GROUP, "flavors"), deleted, "missing-field"),
            ("ClusterQueue vision", (*GROUP, "coveredResources", 0), written("cup"), "covered-resources-differ"),
            ("ClusterQueue vision", (*GROUP, "coveredResources", 2), UPPER, "covered-resource-refused"),
            ("ClusterQueue vision", (*FLAVOR, "resources"), deleted, "missing-field"),
        ],
    },
    KUEUE: {
        "one cause, several resources": [
            ("Node n1", (), deleted, "quota-exceeds-capacity"),
            ("Node n2", ("metadata", "labels"), deleted, "quota-exceeds-capacity"),
            ("Node n2", ("metadata", "labels", "pool"), deleted, "quota-exceeds-capacity"),
            ("Node n1", ("metadata", "labels", "pool"), written("a010"), "quota-exceeds-capacity"),
            ("Node n1", ("status", "allocatable"), deleted, "quota-exceeds-capacity"),
        ],
        "a Node that lint cannot read": [
            (f"Node {name}", (field,), deleted, "missing-field")
            for name in ("n1", "n2")
            for field in ("apiVersion", "kind")
        ],
        "a queue without quota": [
            (f"ClusterQueue {name}", path, deleted, NO_QUOTA)
            for name in ("vision", "nlp")
            for path in (("spec",), ("spec", "resourceGroups"), GROUP)
        ],
        "a required field": [
            (f"ClusterQueue {name}", path, deleted, rule)
            for name in ("vision", "nlp")
            for path, rule in (
                ((*GROUP, "coveredResources"), "missing-field"),
                ((*GROUP, "coveredResources", 2), "crd-rule-broken"),
                ((*GROUP, "coveredResources", 0), "crd-rule-broken"),
                ((*GROUP, "flavors"), "missing-field"),
                (FLAVOR, "wrong-length"),
                ((*FLAVOR, "name"), "missing-field"),
                ((*FLAVOR, "resources"), "missing-field"),
                (QUOTA, "crd-rule-broken"),
                ((*QUOTA, "name"), "missing-field"),
                ((*FLAVOR, "resources", 0, "name"), "missing-field"),
                ((*QUOTA, "nominalQuota"), "every-update-refused"),
                ((*FLAVOR, "resources", 0, "nominalQuota"), "every-update-refused"),
            )
        ],
        "a name or an amount that is refused": [
            ("ClusterQueue vision", path, change, rule)
            for path, change, rule in (
                ((*GROUP, "coveredResources", 1), written("meomry"), "resource-name-misspelt"),
                ((*GROUP, "coveredResources", 0), UPPER, "resource-name-misspelt"),
                ((*FLAVOR, "resources", 0, "name"), written("cup"), "covered-resources-differ"),
                ((*QUOTA, "name"), written("nvidia.com/gup"), "covered-resources-differ"),
                ((*QUOTA, "name"), UPPER, "covered-resources-differ"),
                ((*QUOTA, "nominalQuota"), written("8x"), "invalid-value"),
                ((*FLAVOR, "name"), UPPER, "invalid-value"),
                ((*FLAVOR, "name"), written("a10O"), "invalid-value"),
                ((*FLAVOR, "name"), written("a100_"), "invalid-value"),
                (("spec", "cohortName"), UPPER, "invalid-value"),
            )
        ],
        "memory of a container in another unit": [
            (it, (*LIMITS, "memory"), written("64Mi"), "gpu-container-short-of-cpu-or-memory")
            for it in ("Job train", "Deployment serve")
        ],
        "a queue of a cohort is missing": [
            (f"ClusterQueue {name}", (), deleted, "local-queue-without-cluster-queue")
            for name in ("vision", "nlp")
        ],
        "the key of a label": [
            (it, ("metadata", "labels", "kueue.x-k8s.io/queue-name"), renamed(key), "workload-key-unknown")
            for it in ("Job train", "Deployment serve")
            for key in ("keuue.x-k8s.io/queue-name", "kueue.x-k8s.io/qeuue-name", "kueue.x-k8s.io/queuename")
        ],
    },
    VOLCANO: {
        "one cause, several resources": [
            ("Node n1", (), deleted, "deserved-exceeds-cluster"),
            ("Node n4", ("status", "allocatable"), deleted, "deserved-exceeds-cluster"),
        ],
        "an amount of a queue": [
            ("Queue vision", ("spec", share, *path), change, rule)
            for share, path, change, rule in (
                ("deserved", ("cpu",), renamed("ccpu"), "queue-resource-not-counted"),
                ("deserved", ("cpu",), times(100), "deserved-above-capability"),
                ("deserved", (GPU,), times(2), "deserved-above-capability"),
                ("deserved", (GPU,), times(100), "deserved-above-capability"),
                ("deserved", (GPU,), MILLI, "queue-amount-refused"),
                ("deserved", (GPU,), written(0), "gang-above-deserved"),
                ("capability", ("cpu",), renamed("ccpu"), "queue-resource-not-counted"),
                ("capability", ("cpu",), renamed("pcu"), "queue-resource-not-counted"),
                ("capability", (GPU,), MILLI, "queue-amount-refused"),
            )
        ],
        "a resource of a node": [
            ("Node n1", ("status", "allocatable", GPU), renamed("nivdia.com/gpu"), "resource-name-misspelt"),
            ("Node n1", ("status", "allocatable", GPU), MILLI, "out-of-range"),
        ],
        "a PodGroup and its Job": [
            ("Job ft", ("apiVersion",), written("example.com/v1"), "kinds-without-special-rules"),
            ("Job ft", ("metadata", "namespace"), deleted, "pod-group-missing"),
            ("Job ft", ("metadata", "namespace"), written("nlp"), "pod-group-missing"),
            ("Job ft", ("spec",), deleted, "missing-field"),
            ("Job ft", ("spec", "template"), deleted, "missing-field"),
            ("PodGroup ft", ("spec", "minMember"), times(100), "gang-larger-than-its-pods"),
            *(
                ("Job ft", (*LIMITS, name), change, "gang-exceeds-queue")
                for name, change in (("cpu", times(100)), ("memory", written("64000Gi")), (GPU, times(100)))
            ),
        ],
    },
}  # fmt: skip
ROWS = [
    pytest.param(file, *row, id=f"{row[0]} {'.'.join(map(str, row[1]))} {index}")
    for file, parts in CASES.items()
    for rows in parts.values()
    for index, row in enumerate(rows)
]


@pytest.mark.parametrize(("file", "name", "path", "change", "rule"), ROWS)
def test_one_changed_field_is_one_finding(tmp_path, file, name, path, change, rule):
    objects = [*yaml.safe_load_all((MANIFESTS / file).read_text("utf-8"))]
    [index] = [
        i for i, it in enumerate(objects) if f"{it['kind']} {it['metadata']['name']}" == name
    ]
    holder, last = objects, index
    for step in path:
        holder, last = holder[last], step
    change(holder, last)
    found = findings(tmp_path, yaml.safe_dump_all(copy.deepcopy(objects), sort_keys=False))
    assert [it for it, _ in found] == [rule], found


@pytest.mark.parametrize("node", ["n1", "n2"])
def test_a_node_with_invalid_yaml_is_one_finding(tmp_path, node):
    text = (MANIFESTS / KUEUE).read_text("utf-8")
    labels = f"{{kubernetes.io/hostname: {node}, pool: a100}}"
    assert labels in text
    found = findings(tmp_path, text.replace(labels, labels.rstrip("}")))
    assert [it for it, _ in found] == ["yaml-syntax"], found
