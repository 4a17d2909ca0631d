"""A misspelt field, or one of a wrong type, is reported once.

Other findings stay, and no rule uses its value.
"""

import os
import random
from copy import deepcopy
from datetime import date
from functools import cache

import pytest
import yaml

from policygen.app import lint
from policygen.app.requests import LintRequest
from policygen.core import versions
from policygen.core.finding import Verdict
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from policygen.kubernetes.cluster import Cluster
from policygen.lint import engine
from policygen.lint.registry import RULES
from policygen.lint.rule import Facts, Need
from tests.examples_of_rules import examples

TODAY = date(2026, 11, 21)
PAGES = {
    f"{rule.name}-{number}": example
    for rule in RULES
    for number, example in enumerate(examples(rule.name))
    if "seen" not in example.options
}
WORD = "another type"
WRONG = ({}, [WORD], WORD, True, 5)
DRAWN = int(os.environ.get("POLICYGEN_FIELDS_PER_EXAMPLE", "2"))
"""How many fields of an example are changed, with the same values as if at least four were."""
MANAGER = "kueue-controller-manager"
"""Its Deployment is not changed, because rules use only valid parts of its command line."""
ONCE = {
    "binding-account-missing",
    "feature-gate-off",
    "framework-not-enabled",
    "guarantee-above-deserved",
    "limits-without-cohort",
    "pod-group-inconsistent",
    "priority-classes-equal",
    "queue-affinity-ignored",
    "queue-weight-ignored",
    "reference-missing",
    "reference-misspelt",
    "replicas-exceed-nodes",
    "topology-request-without-topology",
    "workload-fits-no-flavor",
}
"""Rules whose message names several objects, or other objects that the remedy depends on."""
TELL_OF_TYPES = {"malformed-object", "wrong-type"}

QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision.a100}
spec:
  namespaceSelector: {}
  queueingStrategy: 7
  preemption: {reclaimWithinCohort: true}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: 96}
      - {name: memory, nominalQuota: [1]}
      - {name: nvidia.com/gpu, nominalQuota: 8}
"""

ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: vision}
rules:
- {apiGroups: [""], resources: {}, verbs: [get]}
"""


def facts(documents, example):
    asked = dict(word.split("=") for word in example.options if "=" in word)
    target = versions.DEFAULT | {name: versions.parse(name, it) for name, it in asked.items()}
    text = yaml.dump_all(documents, Dumper=yaml.CSafeDumper)
    cluster = Cluster(manifests.read([Source("page.yaml", text, None)]).objects)
    return Facts(cluster, target, frozenset(Need) - {Need.SEEN, Need.SPEC})


def read(example):
    """The documents of an example."""
    found = yaml.load_all(example.text, Loader=yaml.CSafeLoader)
    return [each for each in found if isinstance(each, dict)]


@cache
def before(name):
    """The messages of an example without a change."""
    return messages(facts(read(PAGES[name]), PAGES[name]))


def messages(found):
    """Rules and messages without positions, which change when a document is written again."""
    return {
        (hit.rule.name, hit.message)
        for outcome in engine.run(RULES, found)
        for hit in outcome.hits
        if Need.SPEC not in outcome.rule.needs
    }


def often(claims, rule):
    return sum(it[0] == rule for it in claims)


def fields(data, way=()):
    """The paths of all values in a document, except its header and metadata."""
    if way:
        yield way
    if isinstance(data, dict | list):
        for step in data if isinstance(data, dict) else range(len(data)):
            if way or step not in {"apiVersion", "kind", "metadata"}:
                yield from fields(data[step], (*way, step))


def spoilt(documents, number, way, wrong):
    """The documents with one value replaced."""
    made = deepcopy(documents)
    *above, last = way
    into = made[number]
    for step in above:
        into = into[step]
    into[last] = wrong
    return made


@pytest.mark.parametrize("name", PAGES)
def test_a_wrong_type_adds_no_other_finding(name):
    example, draw = PAGES[name], random.Random(name)
    documents = read(example)
    earlier = before(name)
    ways = [
        (number, way)
        for number, each in enumerate(documents)
        if each.get("metadata", {}).get("name") != MANAGER
        for way in fields(each)
    ]
    for number, way in draw.sample(ways, min(len(ways), max(4, DRAWN)))[:DRAWN]:
        value = draw.choice(WRONG)
        wrong = facts(spoilt(documents, number, way, value), example)
        told = messages(wrong)
        if not any(rule in TELL_OF_TYPES for rule, _ in told):
            continue  # it has taken the value
        new = {it for it in told - earlier if it[0] not in TELL_OF_TYPES}
        # If the field is a name, earlier findings are reported with the other name. If several
        # objects share one fault that is reported once, it may be reported for another of them.
        named = (f"{value}",) if value else ("a container", "a volume", "task default")
        renamed = {
            it
            for it in new
            if (any(name in it[1] for name in named) or it[0] in ONCE)
            and often(told, it[0]) <= often(earlier, it[0])
        }
        assert new - renamed == set(), (number, way)


def keys(data, way=()):
    """The paths of all keys in a document, except its header and metadata."""
    for way_ in fields(data, way):
        if isinstance(way_[-1], str) and len(way_[-1]) > 3:
            yield way_


def misspelt(documents, number, way):
    """The documents with one key misspelt."""
    made = deepcopy(documents)
    *above, last = way
    into = made[number]
    for step in above:
        into = into[step]
    into[f"{last}x"] = into.pop(last)
    return made


@pytest.mark.parametrize("name", [name for name in PAGES if not name.startswith("unknown-field")])
def test_a_misspelt_field_adds_no_other_finding(name):
    example, draw = PAGES[name], random.Random(name)
    documents = read(example)
    earlier = before(name)
    ways = [(number, way) for number, each in enumerate(documents) for way in keys(each)]
    for number, way in draw.sample(ways, min(len(ways), max(4, DRAWN)))[:DRAWN]:
        told = messages(facts(misspelt(documents, number, way), example))
        slips = {it for it in told - earlier if it[0] == "unknown-field"}
        if len(slips) == 1:  # else the key is a custom name
            assert told - earlier - slips == set(), (number, way)


def test_a_mapping_instead_of_a_list_is_not_also_a_missing_list(tmp_path):
    file = tmp_path / "in.yaml"
    file.write_text(ROLE, "utf-8")
    report = lint.lint(LintRequest(manifests=(str(file),), partial=True), today=TODAY)
    assert [it.rule.name for it in report.findings] == ["wrong-type"]


def test_all_faults_of_an_object_are_reported(tmp_path):
    file = tmp_path / "in.yaml"
    file.write_text(QUEUE, "utf-8")
    report = lint.lint(LintRequest(manifests=(str(file),)), today=TODAY)
    assert [(it.place.line, it.rule.name) for it in report.findings] == [
        (7, "wrong-type"),
        (8, "wrong-type"),
        (12, "flavor-missing"),
        (15, "wrong-type"),
    ]


def test_a_rule_that_argues_from_an_unknown_field_about_others_is_not_evaluated(tmp_path):
    file = tmp_path / "in.yaml"
    text = examples("cohort-of-one")[0].text
    file.write_text(text.replace("cohortName: a100", "cohortName: [a100]"), "utf-8")
    report = lint.lint(LintRequest(manifests=(str(file),)), today=TODAY)
    assert [it.rule.name for it in report.findings] == ["wrong-type"]
    (ended,) = [it for it in report.rules if it.rule == "cohort-of-one"]
    assert ended.reason == "spec.cohortName of ClusterQueue vision.a100 could not be read"


JOB = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: all, namespace: chat}
spec: {clusterQueue: chat}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: chat, labels: {kueue.x-k8s.io/queue-name: all}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: train, image: example.com/train:1, resources: {limits: {nvidia.com/gpu: 9}}}
"""
TWO = "---".join(
    QUEUE.replace("vision.a100", name)
    .replace("  queueingStrategy: 7\n  preemption: {reclaimWithinCohort: true}\n", more)
    .replace("[1]", "1Gi")
    for name, more in (("vision", "  cohortName: a\n"), ("chat", ""))
)


def test_a_misspelt_cohort_hides_no_fault_of_a_workload_elsewhere(tmp_path):
    file = tmp_path / "in.yaml"
    rules = ("workload-exceeds-quota", "cohort-of-one")
    for text in (TWO + JOB, (TWO + JOB).replace("cohortName", "cohrt")):
        file.write_text(text, "utf-8")
        report = lint.lint(LintRequest(manifests=(str(file),), only=rules), today=TODAY)
        ended = {it.rule: it for it in report.rules}
        assert ended["workload-exceeds-quota"].verdict is Verdict.FAIL
        assert ended["workload-exceeds-quota"].whole
    of_cohorts = ended["cohort-of-one"]
    assert of_cohorts.verdict is Verdict.NOT_EVALUATED
    assert (
        of_cohorts.reason
        == "the result depends on the unknown field spec.cohrt of ClusterQueue vision"
    )
