"""What a spec renders is the context of manifests: rules see it and report only the manifests."""

import io
from datetime import date
from pathlib import Path

import pytest

from policygen.app import drift, inputs
from policygen.app import lint as app_lint
from policygen.app.requests import ClusterRequest, LintRequest
from policygen.client import snapshot_file
from policygen.core.finding import Hit, Verdict
from policygen.documents.files import Source
from policygen.lint import context, kinds
from policygen.lint.engine import RuleOutcome
from policygen.lint.registry import RULES
from policygen.report import text
from tests.client.looks import snapshot
from tests.objects import objects

TODAY = date(2026, 11, 21)
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/expected"))
TREE = EXAMPLES[0].parents[1] / "kueue-team-tree"
RULE = next(rule for rule in RULES if rule.name == "children-exceed-parent")

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: vision
  labels:
    kueue.x-k8s.io/queue-name: {queue}
    kueue.x-k8s.io/priority-class: normal
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      schedulerName: research.binpack
      containers:
        - name: main
          image: train
          resources:
            requests: {{cpu: "4", memory: 16Gi, nvidia.com/gpu: "{gpus}"}}
            limits: {{nvidia.com/gpu: "{gpus}"}}
"""

QUEUE = """\
apiVersion: kueue.x-k8s.io/{version}
kind: ClusterQueue
metadata:
  name: {name}
spec:
  {cohort}: a100
  namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: vision
  resourceGroups:
    - coveredResources: [cpu, memory, nvidia.com/gpu]
      flavors:
        - name: a100
          resources:
            - {{name: cpu, nominalQuota: "96"}}
            - {{name: memory, nominalQuota: 1000Gi}}
            - {{name: nvidia.com/gpu, nominalQuota: 8}}
"""


def specs(folder):
    return tuple(str(path) for path in sorted(folder.iterdir()) if path.suffix == ".yaml")


CHILD = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: visitor.h100
spec:
  parent: h100
  reclaimable: true
  deserved: {cpu: "8", memory: 64Gi, nvidia.com/gpu: "8"}
  capability: {cpu: "8", memory: 64Gi, nvidia.com/gpu: "8"}
"""


@pytest.fixture
def lint(tmp_path):
    """Lint one manifest, alone or beside the spec of an example."""

    def run(text, folder=TREE, **settings):
        (tmp_path / "one.yaml").write_text(text, "utf-8")
        request = LintRequest(
            specs(folder) if folder else (), (str(tmp_path / "one.yaml"),), **settings
        )
        report = app_lint.lint(request, today=TODAY)
        mine = [it for it in report.findings if it.place and "one.yaml" in it.place.file]
        return report, {(it.rule.name, it.object, it.path) for it in mine}

    return run


def test_a_job_may_name_what_the_spec_renders(lint):
    at = "metadata.labels"
    job = JOB.format(queue="a100", gpus=1)
    assert {name for name, *_ in lint(job, folder=None)[1]} == {
        "workload-priority-class-missing",
        "workload-without-local-queue",
    }
    assert lint(job)[1] == set()
    wrong = lint(JOB.format(queue="a1000", gpus=1))[1]
    assert {name for name, *_ in wrong} == {"workload-without-local-queue"}
    assert all(path.startswith(at) for *_, path in wrong)


@pytest.mark.parametrize("partial", [True, False])
def test_a_job_that_exceeds_its_queue_of_the_spec(lint, partial):
    job = JOB.format(queue="a100", gpus=8).replace("  suspend", "  parallelism: 100\n  suspend")
    found = ("workload-exceeds-quota", "Job vision/train")
    assert found in {it[:2] for it in lint(job, partial=partial)[1]}
    queue = "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: other}\n"
    assert (found in {it[:2] for it in lint(job + queue, partial=partial)[1]}) is not partial


def test_only_the_objects_of_the_manifests_count(lint):
    job = JOB.format(queue="a100", gpus=1)
    alone, beside = lint(job, folder=None)[0], lint(job)[0]
    assert (alone.objects, beside.objects) == (1, 1)
    vacuous = {it.rule for it in alone.rules if it.verdict is Verdict.VACUOUS}
    # Rules about workloads and queues now have both; rules about other kinds still have nothing.
    assert vacuous == {it.rule for it in beside.rules if it.verdict is Verdict.VACUOUS}
    assert [it.reason for it in beside.rules if it.rule == "children-exceed-parent"] == [
        "the input contains no Queue"
    ]


def test_partial_keeps_its_meaning(lint):
    job = JOB.format(queue="a1000", gpus=1)
    assert lint(job, partial=True)[1] == set()


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_a_manifest_replaces_the_rendered_object_in_any_version(lint, version):
    cohort = "cohort" if version == "v1beta1" else "cohortName"
    queue = QUEUE.format(version=version, name="vision.a100", cohort=cohort)
    names = {name for name, *_ in lint(queue)[1]}
    assert "object-declared-twice" not in names
    assert "local-queue-without-cluster-queue" not in names


def test_a_conflict_is_reported_at_the_manifest(lint):
    report, found = lint(CHILD, TREE.parent / "volcano-training")
    assert found == {("children-exceed-parent", "Queue visitor.h100", "spec.deserved")}
    first = next(it for it in report.findings if it.rule.name == "children-exceed-parent")
    assert first.message.endswith("has a capability of 120 (the spec renders Queue h100)")
    assert first.related[0].object == "Queue h100"


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda it: it.parent.name)
def test_a_rendered_object_is_sound_beside_the_others(folder):
    run = inputs.prepare(LintRequest(specs(folder.parent)))
    run = inputs.with_rendered(run)
    known = {it.rule for it in run.spec.findings}
    kinds = {it.object.kind: it for it in run.spec.rendered.expected}
    for number, each in enumerate(kinds.values()):
        one = inputs.with_manifests(run, ("a",), [Source(f"{number}.yaml", each.text, None)])
        assert one.spec is run.spec, "rendered once"
        report = app_lint.report(one, (), TODAY)
        assert [it for it in report.findings if it.rule not in known] == []
        assert report.objects == 1


def test_manifests_that_are_the_rendered_set_have_no_context(monkeypatch):
    seen = []
    monkeypatch.setattr(context, "about", lambda *it: seen.append(it))
    request = LintRequest(specs(TREE), (str(TREE / "expected"),))
    report = app_lint.lint(request, today=TODAY)
    assert report.objects == 27
    assert not seen


def test_nothing_is_rendered_without_manifests_or_without_a_spec(monkeypatch):
    monkeypatch.setattr(drift, "rendered", None)
    app_lint.lint(LintRequest(specs(TREE)), today=TODAY)
    app_lint.lint(LintRequest((), (str(TREE / "expected"),)), today=TODAY)


def test_a_hit_in_the_context_moves_to_its_cause_or_is_dropped():
    one, other = objects("kind: Queue\napiVersion: v1\n---\nkind: Queue\napiVersion: v1\n")
    field = other.at.to("spec", "deserved")
    inside = Hit(RULE, "message", one.at.to("spec"))
    caused = inside._replace(related=(one.at, field))
    own = Hit(RULE, "mine", field, related=(one.at,))
    everywhere = Hit(RULE, "all", None)

    def about(*hits):
        given = RuleOutcome(RULE, Verdict.FAIL, hits=hits)
        return context.about([other], [context.ContextObjects("the spec renders", [one])], [given])[
            0
        ]

    assert about(inside).verdict is Verdict.PASS
    assert about(inside).hits == ()
    assert about(own, everywhere).hits == (own, everywhere)
    moved = about(caused)
    assert moved.verdict is Verdict.FAIL
    assert [(it.message, it.at, it.related) for it in moved.hits] == [
        ("message (the spec renders Queue)", field, (one.at.to("spec"),))
    ]
    assert about(Hit(RULE, "none", None, related=(one.at,))).hits == ()


@pytest.mark.parametrize(
    ("folder", "partial", "specs", "count"),
    [
        (False, False, (), 2),
        (True, False, (), 0),
        (False, True, (), 0),
        (False, False, specs(TREE), 0),
    ],
)
def test_single_files_may_lack_objects_that_exist_elsewhere(
    tmp_path, folder, partial, specs, count
):
    file = tmp_path / "one.yaml"
    file.write_text(JOB.format(queue="a1000", gpus=1), "utf-8")
    path = tmp_path if folder else file
    report = app_lint.lint(LintRequest(specs, (str(path),), partial=partial), today=TODAY)
    assert report.elsewhere == count
    out = io.StringIO()
    text.write(report, out)
    assert out.getvalue().count("use --partial") == (count > 0)


@pytest.mark.parametrize("gpus, exceeds", [(8, True), (0, False)])
def test_quota_beside_that_of_a_spec_may_exceed_its_pool(lint, gpus, exceeds):
    """The spec gives all 64 GPUs of its pool to its teams and their cohort."""
    queue = QUEUE.format(version="v1beta2", name="visitors", cohort="cohortName")
    report, found = lint(queue.replace("nominalQuota: 8", f"nominalQuota: {gpus}"))
    rule = "quota-exceeds-capacity"
    assert (rule in {name for name, *_ in found}) is exceeds
    [message] = [it.message for it in report.findings if it.rule.name == rule] or [""]
    sums = (
        "add up to 72 nvidia.com/gpu (ClusterQueue visitors has 8), with 64 nvidia.com/gpu of queues "
        "that the spec renders, but "
    )
    remedy = "if the rendered queues replace ClusterQueue visitors, remove it, otherwise lower"
    assert (f"{sums}pool a100 has 64; {remedy}" in message) is exceeds


@pytest.mark.parametrize(("value", "refused"), [(5, True), (500, False)])
def test_a_manifest_changes_an_immutable_field_of_a_rendered_object(lint, value, refused):
    head = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
    report, found = lint(f"{head}metadata: {{name: normal}}\nvalue: {value}\n")
    rule = "change-refused"
    assert (rule in {name for name, *_ in found}) is refused
    [message] = [it.message for it in report.findings if it.rule.name == rule] or [""]
    words = "PriorityClass normal as the spec renders it has value 500, but the manifest has 5; "
    assert message.startswith(words if refused else "")


def test_a_misspelled_resource_is_reported_once_beside_a_spec(lint):
    """The pools of a spec do not list all resources of their nodes, so no rule about nodes reports it."""
    job = JOB.format(queue="a100", gpus=1).replace("nvidia.com/gpu", "nvidia.com/gpus")
    assert [name for name, *_ in lint(job)[1]] == ["resource-name-misspelt"]


HELD = """\
apiVersion: v1
kind: Namespace
metadata: {name: vision}
---
apiVersion: v1
kind: Namespace
metadata: {name: web}
---
apiVersion: v1
kind: Node
metadata: {name: a, uid: a, labels: {gpu-type: a100, disk: ssd}}
status: {allocatable: {cpu: 90, memory: 900Gi, pods: 110, nvidia.com/gpu: 8}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100, uid: a}
spec: {nodeLabels: {gpu-type: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: normal, uid: a}
value: 10
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: mine, namespace: vision, uid: a}
spec: {clusterQueue: vision}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision, uid: a}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: 90}
      - {name: memory, nominalQuota: 900Gi}
      - {name: nvidia.com/gpu, nominalQuota: 8}
"""
SERVER = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: web}
spec:
  replicas: 1
  strategy: {type: Recreate}
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers: [{name: a, image: a, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: 8}}}]
"""


@pytest.fixture
def beside(tmp_path):
    """Lint one manifest beside the snapshots of clusters. Returns rule, file or cluster, and message."""

    def run(text, *held, **seen):
        (tmp_path / "one.yaml").write_text(text, "utf-8")
        paths = tuple(tmp_path / f"{number}.snapshot" for number, _ in enumerate(held))
        for path, each in zip(paths, held, strict=True):
            snapshot_file.write(snapshot(each, **{"context": f"c{path.stem}"} | seen), path)
        clusters = ClusterRequest(snapshots=paths)
        request = LintRequest(manifests=(str(tmp_path / "one.yaml"),), clusters=clusters)
        report = app_lint.lint(request, today=TODAY)
        return report, [
            (it.rule.name, it.cluster or "one.yaml", it.message) for it in report.findings
        ]

    return run


def test_a_manifest_is_held_against_the_cluster(beside):
    job = JOB.format(queue="mine", gpus=1)
    assert beside(job, HELD)[1] == []
    wrong = job.replace("    spec:\n", "    spec:\n      nodeSelector: {disk: SSD}\n")
    ((rule, where, message),) = beside(wrong, HELD)[1]
    assert (rule, where) == ("pod-fits-no-node", "one.yaml")
    assert "write ssd in nodeSelector" in message
    assert [it[0] for it in beside(job.replace("mine", "main"), HELD)[1]] == [
        "workload-without-local-queue"
    ]


def test_a_manifest_replaces_the_object_of_the_cluster(beside):
    assert beside(SERVER, HELD + "---\n" + SERVER)[1] == []
    unnamed = SERVER.replace(", namespace: web", "")
    default = SERVER.replace("web", "default")
    assert beside(unnamed, HELD + "---\n" + default)[1] == []


def test_each_fault_is_reported_once_where_it_can_be_fixed(beside):
    other = SERVER.replace("name: a,", "name: b,").replace("replicas: 1", "replicas: 2")
    found = beside(SERVER, HELD + "---\n" + other)[1]
    assert [it[:2] for it in found] == [("replicas-exceed-nodes", "c0")]
    small = SERVER.replace("name: a,", "name: b,")
    found = beside(SERVER, HELD + "---\n" + small)[1]
    assert [it[:2] for it in found] == [("workloads-exceed-nodes", "one.yaml")]


def test_what_was_not_read_of_the_cluster_is_not_evaluated(beside):
    job = JOB.format(queue="main", gpus=1)
    read = frozenset(it for it in kinds.every() if it.kind != "LocalQueue")
    report, found = beside(job, HELD, read=read)
    assert {it[0] for it in found} == {"not-read"}
    assert not report.complete
    verdicts = {it.rule: it.verdict for it in report.rules}
    assert verdicts["workload-without-local-queue"] is Verdict.NOT_EVALUATED
    elsewhere = job.replace("namespace: vision", "namespace: web")
    for each, seen in ((job, {"redacted": True}), (elsewhere, {"namespaces": ("vision",)})):
        report, found = beside(each, HELD, **seen)
        assert found == []
        verdicts = {it.rule: it.verdict for it in report.rules}
        assert verdicts["workload-without-local-queue"] is Verdict.NOT_EVALUATED


def test_manifests_beside_two_clusters(beside):
    job = JOB.format(queue="mine", gpus=9)
    other = HELD.replace("LocalQueue\nmetadata: {name: mine", "LocalQueue\nmetadata: {name: yours")
    report, found = beside(job, HELD, other)
    assert report.objects == 1 + 2 * 7
    assert [(rule, where) for rule, where, _ in found] == [
        ("workload-without-local-queue", "one.yaml"),
        ("workload-exceeds-quota", "one.yaml"),
        ("pod-fits-no-node", "one.yaml"),
    ]
    named = {rule: message for rule, _, message in found}
    assert named["workload-without-local-queue"].startswith('on cluster "c1": ')
    assert named["pod-fits-no-node"].startswith('on cluster "c1": no node takes')
    assert named["workload-exceeds-quota"].startswith('on cluster "c0": ')
    assert (
        "(also, all nodes have at most 8 nvidia.com/gpu for a pod)"
        in named["workload-exceeds-quota"]
    )


def test_a_finding_names_all_clusters_on_which_it_is_true(beside):
    job = JOB.format(queue="mine", gpus=1)
    other = HELD.replace("LocalQueue\nmetadata: {name: mine", "LocalQueue\nmetadata: {name: yours")
    _, found = beside(job, HELD, other, other)
    (message,) = (it[2] for it in found if it[0] == "workload-without-local-queue")
    assert message.startswith('on cluster "c1" and cluster "c2": ')
