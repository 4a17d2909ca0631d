"""`policygen simulate`: states and jobs from files, and the reports."""

import csv
import io
import json
import os

import jsonschema
import pytest
from click.testing import CliRunner

from policygen.app import compare as app_compare
from policygen.app import simulate as app_simulate
from policygen.app.requests import ClusterRequest, SimulateRequest
from policygen.cli.main import cli
from policygen.client import snapshot_file as snapshots
from policygen.core.errors import InvalidInputError, SpecError, UnreadError, UsageError
from policygen.core.versions import Version
from policygen.report.cause_words import brief
from policygen.report.simulation import write as write_report
from policygen.report.tables import TablePage
from policygen.simulate import recorder
from policygen.simulate.volcano.scheduler import VolcanoScheduler
from policygen.simulate.why.causes import CauseKind
from tests.app.simulations import EXAMPLE, POLICY, ROOT, raised, written
from tests.client.looks import snapshot
from tests.documents.test_git_files import git
from tests.servers.rendering import json_documents
from tests.servers.volcano_shares import drawn
from tests.simulate.scenes import NODES, QUEUES, WORKLOAD, job
from tests.simulate.test_scene import assigned
from tests.simulate.test_topologies_over_time import STATE as TOPOLOGIES
from tests.simulate.test_topologies_over_time import required
from tests.simulate.volcano.test_over_time import QUEUES as VOLCANO_QUEUES
from tests.simulate.volcano.test_over_time import conf, vcjob

SCHEMA = json.loads((ROOT / "schemas" / "simulation.schema.json").read_text("utf-8"))


def simulated(folder, text, **more):
    request = SimulateRequest(workloads=(written(folder, text),), **more)
    return app_simulate.simulate(request)


def test_manifests_of_queues_nodes_and_jobs(tmp_path):
    report = simulated(tmp_path, QUEUES + NODES + job("a", 8))
    (found,) = report.result.jobs
    assert (found.name, found.ended, found.nodes) == ("nlp/a", 3600, {"n0": 1})
    assert report.notes == (
        "1 job runs for --duration; the annotation policygen.dev/runs-for of a job sets another duration",
    )


def test_a_cron_job_is_named_but_does_not_wait(tmp_path):
    """Its Jobs are jobs; between two runs there is none."""
    later = job("night", 8).replace("kind: Job", "kind: CronJob")
    later = later.replace(
        "spec:\n", "spec:\n  schedule: '0 22 * * *'\n  jobTemplate:\n    spec:\n", 1
    )
    head, mark, rest = later.partition("    spec:\n")
    later = head + mark + "".join(f"    {line}\n" for line in rest.splitlines())
    report = simulated(tmp_path, QUEUES + NODES + later + job("a", 8))
    assert [it.name for it in report.result.jobs] == ["nlp/a"]
    assert [(it.feature, it.workloads) for it in report.result.unmodelled] == [
        ("CronJob: a CronJob creates its Jobs later", 1)
    ]


def test_a_spec_has_queues_nodes_and_teams(tmp_path):
    spec = written(tmp_path, POLICY, "policy.yaml")
    text = job("a", 8, queue="a100").replace("namespace: nlp", "namespace: vision")
    report = app_simulate.simulate(
        SimulateRequest(specs=(spec,), workloads=(written(tmp_path, text),))
    )
    (found,) = report.result.jobs
    assert (found.team, found.queue, found.started) == ("vision", "vision.a100", 0)
    assert found.nodes.keys() <= {f"a100-{i}" for i in range(4)}
    assert [(it.name, it.gpus) for it in report.result.pools] == [("a100", 32), ("l4", 16)]


def test_a_namespace_that_no_team_has_is_noted(tmp_path):
    spec = written(tmp_path, POLICY, "policy.yaml")
    report = app_simulate.simulate(
        SimulateRequest(specs=(spec,), workloads=(written(tmp_path, job("a", 8)),))
    )
    assert (
        report.result.jobs[0].message
        == "LocalQueue main doesn't exist in namespace nlp; no queue is defined"
    )
    assert report.notes[0] == (
        "no team of the spec has namespace nlp (1 job); each is counted as a team of its own"
    )


@pytest.mark.parametrize("label", ["main", "main, kueue.x-k8s.io/priority-class: missing"])
def test_without_queues_jobs_wait(label, tmp_path):
    text = job("a", 8).replace("queue-name: main", f"queue-name: {label}")
    report = simulated(tmp_path, text)
    assert report.result.jobs[0].started is None
    assert report.notes[0].startswith(
        "the input has no ClusterQueue, so 1 job with the name of a queue never starts;"
    )


def test_without_nodes_pods_start_at_once(tmp_path):
    report = simulated(tmp_path, QUEUES + job("a", 8))
    assert report.result.jobs[0].started == 0
    assert report.notes[0].startswith("nodes are not known")


def refused(folder, text, **more):
    with pytest.raises(InvalidInputError) as caught:
        simulated(folder, text, **more)
    return str(caught.value), [it.replace(f"{folder}/", "") for it in caught.value.details]


def test_times_that_are_no_durations_are_errors(tmp_path):
    annotations = "policygen.dev/runs-for: -5m, policygen.dev/arrives-after: soon"
    words = "Job nlp/a: annotation policygen.dev/{}; write for example 90, 90s, 1h30m or 7d"
    assert refused(tmp_path, job("a", 8, annotations=annotations)) == (
        "2 faults; nothing was simulated",
        [
            f"jobs.yaml:5:{column}: {words.format(text)}"
            for column, text in (
                (118, 'runs-for "-5m" is negative'),
                (152, 'arrives-after "soon" is not a duration'),
            )
        ],
    )


def test_annotations_take_the_durations_of_traces_and_options(tmp_path):
    annotations = "policygen.dev/runs-for: '90', policygen.dev/arrives-after: 1d2h"
    (found,) = simulated(tmp_path, QUEUES + job("a", 8, annotations=annotations)).result.jobs
    assert (found.started, found.ended) == (93600, 93690)


def test_two_jobs_with_one_name_are_an_error(tmp_path):
    done, (detail,) = refused(tmp_path, job("a", 8) + job("a", 4, queue=""))
    assert (done, detail) == (
        "1 fault; nothing was simulated",
        "jobs.yaml:20:18: Job nlp/a is in the input twice, first at jobs.yaml:5:18; rename or remove one of the two",
    )


def test_a_name_that_is_no_text_is_an_error(tmp_path):
    _, (detail,) = refused(tmp_path, job("y", 8))
    assert detail.startswith("jobs.yaml:5:18: Job: name must be a string, not true")


def test_objects_without_a_namespace_are_in_the_namespace_default(tmp_path):
    text = (QUEUES + job("a", 8) + job("b", 1, queue="mian")).replace(", namespace: nlp", "")
    by_name = {it.name: it for it in simulated(tmp_path, text).result.jobs}
    assert by_name["default/a"].started == 0
    assert by_name["default/b"].message == (
        'LocalQueue mian doesn\'t exist in namespace default; did you mean "main"?'
    )


def test_pods_that_are_larger_than_each_node_are_noted(tmp_path):
    """The cause of a names the 9 GPUs, and that of b its node selector."""
    other = job("b", 9, queue="").replace(
        "restartPolicy: Never", "restartPolicy: Never\n      nodeSelector: {gpu: h100}"
    )
    report = simulated(tmp_path, QUEUES + NODES + job("a", 9) + other + job("c", 8))
    words = "no node has 9 GPUs, which a pod of nlp/b requests; the largest node has 8 GPUs"
    assert words in report.notes
    assert "a pod requests 9 GPUs, and 8 are free" in brief(report.result.jobs[0])


def test_jobs_of_volcano_in_a_pool_of_kueue_are_noted(tmp_path):
    request = SimulateRequest(
        workloads=(written(tmp_path, QUEUES + NODES + vcjob("v", "default", 1)),)
    )
    report = app_simulate.simulate(request)
    (note,) = (it for it in report.notes if it.startswith("Volcano runs "))
    assert "ns/v on nodes of pool a100, whose quotas are those of Kueue" in note
    request = SimulateRequest(workloads=(written(tmp_path, QUEUES + NODES + job("a", 1)),))
    assert not any("Volcano" in it for it in app_simulate.simulate(request).notes)


def test_pods_that_name_a_node_are_not_modelled_without_nodes(tmp_path):
    named = job("a", 1).replace("restartPolicy", "nodeName: gpu-17\n      restartPolicy")
    request = SimulateRequest(workloads=(written(tmp_path, QUEUES + named + job("b", 1)),))
    (found,) = app_simulate.simulate(request).result.unmodelled
    assert (found.feature, found.workloads) == (
        "names of nodes in pods, because the input has no nodes",
        1,
    )


def test_objects_of_other_kinds_are_counted(tmp_path):
    others = """
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: a}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: b}
---
a: b
"""
    notes = simulated(tmp_path, QUEUES + job("a", 8) + others).notes
    assert notes[:2] == (
        "policygen skipped 1 document without apiVersion or kind",
        "these objects have no effect on the simulation: 2 Widget of example.com/v1",
    )


def test_without_jobs_there_is_nothing_to_simulate(tmp_path):
    with pytest.raises(UsageError, match="the input has no job to simulate"):
        simulated(tmp_path, QUEUES)


def test_models_without_a_pool_are_named_if_there_is_no_job(tmp_path):
    model = "apiVersion: policygen.dev/v1alpha1\nkind: Model\nmetadata: {name: big}\n"
    written(tmp_path, f"{POLICY}\n---\n{model}spec: {{team: vision, resources: {{gpus: 1000}}}}\n")
    with pytest.raises(UsageError, match=r"models have no pool .*: big$"):
        app_simulate.simulate(SimulateRequest(specs=(str(tmp_path),)))


def test_another_release_of_kueue_is_refused_by_name(tmp_path):
    with pytest.raises(UsageError, match=r"only the decisions of Kueue 0\.19, not of 0\.17"):
        simulated(tmp_path, QUEUES + job("a", 1), target={"kueue": Version(0, 17)})


def test_invalid_yaml_is_an_error(tmp_path):
    with pytest.raises(SpecError):
        simulated(tmp_path, QUEUES + job("a", 1) + "---\na: [")


def test_a_missing_file_is_an_error():
    with pytest.raises(SpecError):
        app_simulate.simulate(SimulateRequest(workloads=("no-such-file.yaml",)))


def test_a_spec_without_spec_documents_is_an_error(tmp_path):
    spec = written(tmp_path, "replicas: 3\n", "values.yaml")
    with pytest.raises(SpecError):
        app_simulate.simulate(SimulateRequest(specs=(spec,)))


def of_snapshot(folder, text, **more):
    path = folder / "prod.snapshot"
    snapshots.write(snapshot(text), path)
    return SimulateRequest(clusters=ClusterRequest(snapshots=(path,)), **more)


def test_only_one_cluster_is_read(tmp_path):
    """Also if one of two snapshots is named in place of a spec."""
    request = of_snapshot(tmp_path, QUEUES + NODES + WORKLOAD)
    (snapshot_,) = request.clusters.snapshots
    with pytest.raises(UsageError, match="only one cluster can be read"):
        app_simulate.simulate(request._replace(specs=(str(snapshot_),)))


def test_a_snapshot_has_running_workloads(tmp_path):
    report = app_simulate.simulate(of_snapshot(tmp_path, QUEUES + NODES + WORKLOAD + job("b", 8)))
    found = {it.name: it for it in report.result.jobs}
    assert found["nlp/a"].ended == 3600
    assert found["nlp/b"].started == 3601


def test_new_jobs_join_those_of_a_snapshot(tmp_path):
    new = written(tmp_path, job("new", 4))
    request = of_snapshot(tmp_path, QUEUES + NODES + WORKLOAD + job("b", 8), workloads=(new,))
    found = {it.name: it.started for it in app_simulate.simulate(request).result.jobs}
    assert found == {"nlp/a": found["nlp/a"], "nlp/new": 0, "nlp/b": 3601}


def test_a_snapshot_without_workloads_is_refused(tmp_path):
    with pytest.raises(UsageError, match="the input has no job to simulate"):
        app_simulate.simulate(of_snapshot(tmp_path, QUEUES + NODES))


def test_a_snapshot_that_cannot_be_read(tmp_path):
    path = tmp_path / "no.snapshot"
    path.write_text("no snapshot")
    with pytest.raises(UnreadError):
        app_simulate.simulate(SimulateRequest(clusters=ClusterRequest(snapshots=(path,))))


def test_pods_of_a_snapshot_use_the_domains_of_their_nodes(tmp_path):
    """One pod runs on a0, so rack a has no room for two pods of 8 GPUs before it ends."""
    pods = """
---
apiVersion: v1
kind: Pod
metadata:
  name: a-1
  namespace: nlp
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: a, uid: u0, controller: true}]
spec:
  nodeName: a0
  containers: [{name: main, resources: {requests: {cpu: 4}, limits: {nvidia.com/gpu: 8}}}]
status: {phase: Running}
"""
    state = TOPOLOGIES + assigned("a0") + required("a", 8, 1) + pods
    request = of_snapshot(tmp_path, state + required("b", 8, 2) + required("c", 8, 2))
    found = {it.name: it for it in app_simulate.simulate(request).result.jobs}
    assert (found["nlp/a"].nodes, found["nlp/a"].domains) == ({"a0": 1}, {"a": 1})
    assert found["nlp/b"].domains == {"b": 2}
    assert [found[f"nlp/{it}"].started for it in "bc"] == [0, 3601]


RECENT = WORKLOAD.replace("2026-01-01T00:00:00Z", "2026-11-21T02:30:00Z")


@pytest.mark.parametrize(
    "queues, reason",
    [
        (
            QUEUES.replace("{clusterQueue: nlp}", "{clusterQueue: nlp, stopPolicy: HoldAndDrain}"),
            "LocalQueueStopped",
        ),
        (
            QUEUES.replace(
                "  namespaceSelector", "  stopPolicy: HoldAndDrain\n  namespaceSelector"
            ),
            "ClusterQueueStopped",
        ),
    ],
)
def test_a_drained_queue_evicts_the_workloads_of_a_snapshot(tmp_path, queues, reason):
    report = app_simulate.simulate(of_snapshot(tmp_path, queues + NODES + WORKLOAD + job("a", 8)))
    (found,) = report.result.jobs
    assert (found.state.value, found.evicted, found.evicted_for) == ("never-starts", 1, reason)
    out = io.StringIO()
    write_report(report, TablePage(out))
    assert "because its" in out.getvalue()
    assert "Queue has stopPolicy HoldAndDrain" in out.getvalue()


def test_a_held_queue_keeps_the_workloads_of_a_snapshot(tmp_path):
    queues = QUEUES.replace("  namespaceSelector", "  stopPolicy: Hold\n  namespaceSelector")
    report = app_simulate.simulate(of_snapshot(tmp_path, queues + NODES + WORKLOAD + job("a", 8)))
    assert [it.ended for it in report.result.jobs] == [3600]


def test_the_maximum_execution_time_of_a_snapshot(tmp_path):
    """It ran for 30 minutes, and for 10 minutes before, of 50 minutes."""
    text = RECENT.replace("  queueName", "  maximumExecutionTimeSeconds: 3000\n  queueName")
    text = text.replace("status:\n", "status:\n  accumulatedPastExecutionTimeSeconds: 600\n")
    state = QUEUES + NODES + text + job("a", 8) + job("b", 8)
    found = {it.name: it for it in app_simulate.simulate(of_snapshot(tmp_path, state)).result.jobs}
    ran, then = found["nlp/a"], found["nlp/b"]
    assert (ran.evicted_for, ran.ended) == ("DeactivatedDueToMaximumExecutionTimeExceeded", None)
    assert ran.cause.kind.value == "deactivated"
    assert ran.never
    assert then.started == 601


def test_kueue_tries_an_evicted_workload_of_a_snapshot_later(tmp_path):
    head, _, _ = WORKLOAD.partition("status:")
    status = "status:\n  requeueState: {count: 1, requeueAt: '2026-11-21T03:10:00Z'}\n"
    state = QUEUES + NODES + head + status + job("a", 8)
    (found,) = app_simulate.simulate(of_snapshot(tmp_path, state)).result.jobs
    assert found.started == 600
    (found,) = app_simulate.simulate(of_snapshot(tmp_path, state, until=60.0)).result.jobs
    assert (found.cause.kind.value, found.cause.message) == (
        "requeued-later",
        "at 10m after the start",
    )


def test_kueue_admits_nothing_below_a_cycle_of_cohorts(tmp_path):
    """Cohort r is not in the cycle itself."""
    cohort = "---\n{{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {{name: {}}}, spec: {{parentName: {}}}}}\n"
    queues = QUEUES.replace("  namespaceSelector", "  cohortName: r\n  namespaceSelector")
    cohorts = "".join(cohort.format(*it) for it in ("pq", "qp", "rp"))
    (found,) = simulated(tmp_path, queues + cohorts + NODES + job("a", 8)).result.jobs
    assert (found.started, found.cause.kind.value) == (None, "cohort-cycle")
    assert found.never


def test_racks_of_a_spec_are_not_known(tmp_path):
    aware = "schedulingPolicy: {topologyAware: true}\n  topology: {levels: [example.com/rack]}"
    spec = POLICY.replace("scheduler: kueue", f"scheduler: kueue\n  {aware}", 1)
    path = written(tmp_path, spec, "policy.yaml")
    text = job("a", 8, queue="a100").replace("namespace: nlp", "namespace: vision")
    request = SimulateRequest(specs=(path,), workloads=(written(tmp_path, text),))
    report = app_simulate.simulate(request)
    assert report.result.jobs[0].domains == {"a100": 1}
    assert report.notes[0].startswith(
        "the spec does not have the values of example.com/rack of the nodes of pool a100, so all nodes have the same value"
    )


def test_a_spec_replaces_the_queues_of_a_snapshot(tmp_path):
    """The cluster has a ClusterQueue vision.a100 without quota; the spec gives it some."""
    text = QUEUES.replace("{name: nlp}", "{name: vision.a100}", 1) + NODES
    text += job("a", 8, queue="a100").replace("namespace: nlp", "namespace: vision")
    text += "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: vision}\n"
    spec = written(tmp_path, POLICY, "policy.yaml")
    report = app_simulate.simulate(of_snapshot(tmp_path, text, specs=(spec,)))
    assert report.result.jobs[0].queue == "vision.a100"
    assert report.result.jobs[0].admitted == 0


def test_a_partial_report_has_only_so_many_causes(tmp_path, monkeypatch):
    """So it comes soon. The other jobs have the message of Kueue."""

    def watch(steps, _):
        next(iter(steps))
        raise KeyboardInterrupt

    monkeypatch.setattr(app_simulate, "_watch", watch)
    monkeypatch.setattr(recorder, "_EXPLAINED", 2)
    text = QUEUES + NODES + job("a", 8) + "".join(job(f"w{i}", 8 + i) for i in range(5))
    report = simulated(tmp_path, text)
    causes = [it.cause.kind for it in report.result.jobs if it.cause is not None]
    assert (causes.count(CauseKind.UNKNOWN), len(causes)) == (3, 5)
    assert all("insufficient" in it.message for it in report.result.jobs if it.cause)
    assert report.result.unexplained == 3
    assert any("the causes of 3 waiting jobs were not computed" in it for it in report.notes)


def test_ctrl_c_leaves_a_partial_report(tmp_path, monkeypatch):
    def interrupted(steps, _progress):
        next(iter(steps))
        raise KeyboardInterrupt

    monkeypatch.setattr(app_simulate, "_watch", interrupted)
    report = simulated(tmp_path, QUEUES + job("a", 8) + job("b", 8))
    assert report.result.partial
    assert [it.started for it in report.result.jobs] == [0, None]


VCJOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: a, namespace: foundation-text}
spec:
  queue: text.h100
  minAvailable: 2
  tasks:
  - name: worker
    replicas: 2
    template:
      spec:
        restartPolicy: Never
        tolerations: [{operator: Exists}]
        containers: [{name: main, image: x:1, resources: {requests: {cpu: 8, memory: 64Gi}, limits: {nvidia.com/gpu: 8}}}]
"""


def test_a_spec_has_the_queues_and_the_configuration_of_volcano(tmp_path):
    spec = str(ROOT / "examples" / "volcano-training" / "policy.yaml")
    request = SimulateRequest(specs=(spec,), workloads=(written(tmp_path, VCJOB),), models=False)
    result = app_simulate.simulate(request).result
    (found,) = result.jobs
    assert (found.team, found.started, found.ended) == ("text", 0, 3600)
    (use,) = next(it.uses for it in result.teams if it.name == "text")
    assert (use.pool, use.most) == ("h100", 16)
    assert 0 < use.guarantee <= use.limit <= 120


def test_the_base_file_of_the_platform_decides_what_kueue_manages(tmp_path, monkeypatch):
    """Also that of a git revision, from another folder than the top of the repository."""
    base = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    spec = tmp_path / "platform" / "spec"
    spec.mkdir(parents=True)
    named = POLICY.replace("\nspec:\n", "\nspec:\n  kueue: {configuration: ../kueue.yaml}\n", 1)
    written(spec, named)
    text = job("a", 8, queue="").replace(
        "      containers:", "      tolerations: [{operator: Exists}]\n      containers:"
    )
    jobs = written(tmp_path, text)
    request = SimulateRequest(specs=(str(spec),), workloads=(jobs,))
    configuration = tmp_path / "platform" / "kueue.yaml"

    def started(request):
        (found,) = app_simulate.simulate(request).result.jobs
        return found.started

    with pytest.raises(SpecError):
        started(request)
    configuration.write_text(base + "manageJobsWithoutQueueName: true\n", "utf-8")
    assert started(request) is None
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "base")
    configuration.write_text(base, "utf-8")
    assert started(request) == 0
    monkeypatch.chdir(spec.parent)
    for name in ("git:main:platform/spec", "git:main:./spec", "git:main:platform/spec/jobs.yaml"):
        assert started(request._replace(specs=(name,))) is None


def test_a_second_scheduler_of_the_spec_is_no_job(tmp_path):
    spec = str(ROOT / "examples" / "three-schedulers" / "policy.yaml")
    request = SimulateRequest(
        specs=(spec,), workloads=(written(tmp_path, job("a", 1)),), models=False
    )
    assert [it.name for it in app_simulate.simulate(request).result.jobs] == ["nlp/a"]


@pytest.fixture
def example():
    return SimulateRequest(
        specs=(str(EXAMPLE / "policy.yaml"),), workloads=(str(EXAMPLE / "jobs"),)
    )


def test_equal_seeds_give_equal_results(example):
    first, second = (app_simulate.simulate(example).result for _ in range(2))
    assert [(it.name, it.started, it.nodes) for it in first.jobs] == [
        (it.name, it.started, it.nodes) for it in second.jobs
    ]


def run(*arguments):
    return CliRunner().invoke(cli, ["simulate", *map(str, arguments)])


def test_json_follows_its_schema(tmp_path, example):
    arguments = (*example.specs, "--workloads", *example.workloads, "-f", "json")
    single = json.loads(run(*arguments).stdout)
    jsonschema.validate(single, SCHEMA)
    assert len(single["jobs"]) == 40
    both = json.loads(run(*arguments, "--against", raised(tmp_path)).stdout)
    jsonschema.validate(both, SCHEMA)
    assert both["consequences"][0].startswith("On average, speech waits 1h 9m less, ")
    assert {it["cause"] for it in single["jobs"]} == {None, "above-maximum", "no-node-fits"}


def test_csv_has_a_line_for_each_job(tmp_path, example):
    arguments = (*example.specs, "--workloads", *example.workloads, "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(run(*arguments).stdout)))
    assert len(rows) == 40
    assert rows[0]["job"] == "language/pretrain-base"
    assert {it["state"] for it in rows} == {"ended", "never-starts"}
    both = list(csv.DictReader(io.StringIO(run(*arguments, "--against", raised(tmp_path)).stdout)))
    assert float(both[0]["waited_after"]) >= 0


def test_jobs_of_volcano_run_with_the_configuration_that_the_spec_needs(tmp_path):
    """A queue reclaims what it deserves, which Volcano's own configuration does not do."""
    spec = str(ROOT / "examples" / "volcano-training")
    text = vcjob("lent", "speech.h100", 8, 8) + vcjob("back", "text.h100", 8, 8, after="10m")
    text = text.replace("containers:", "tolerations: [{operator: Exists}]\n        containers:")
    report = app_simulate.simulate(
        SimulateRequest(specs=(spec,), workloads=(written(tmp_path, text),), models=False)
    )
    found = {it.name: it for it in report.result.jobs}
    assert found["ns/back"].preempts == ("ns/lent",)
    assert (found["ns/back"].started, found["ns/lent"].started) == (600, 0)
    assert report.result.unmodelled == ()


def through_a_pipe(text):
    """The path of a pipe with a text, as of `<(command)` of a shell."""
    reader, writer = os.pipe()
    os.write(writer, text.encode())
    os.close(writer)
    return reader, f"/dev/fd/{reader}"


def test_a_spec_from_a_pipe_is_read_once(example):
    def times(report):
        return [(it.name, it.started, it.ended, it.flavors) for it in report.result.jobs]

    expected = times(app_simulate.simulate(example))
    reader, path = through_a_pipe(POLICY)
    try:
        assert times(app_simulate.simulate(example._replace(specs=(path,)))) == expected
    finally:
        os.close(reader)
    reader, path = through_a_pipe(POLICY)
    try:
        assert times(app_compare.compare(example, path)[1]) == expected
    finally:
        os.close(reader)


def test_a_named_pipe_is_refused(tmp_path, example):
    """To open it would wait for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(SpecError) as refused:
        app_simulate.simulate(example._replace(specs=(str(pipe),)))
    assert [it.message for it in refused.value.findings] == ["this is a pipe, not a file"]


@pytest.mark.parametrize(("other", "ties"), [("train-2", 2), ("u", 0)])
def test_the_uid_of_a_job_orders_equal_jobs_of_volcano(tmp_path, other, ties):
    """Volcano orders them by the names of their PodGroups: train-UID and train-2-UID, or train-UID and u-UID."""
    jobs = "".join(vcjob(it, "a", 16) for it in ("train", other))
    text = NODES + VOLCANO_QUEUES + conf("enqueue, allocate") + jobs
    found = [simulated(tmp_path, text, seed=it).result for it in range(1, 6)]
    assert max(sum(it.either for it in one.jobs) for one in found) == ties


@pytest.mark.parametrize("seed", [44, 76])
def test_jobs_that_volcano_evicts_in_turn_are_a_livelock_after_a_few_sessions(
    tmp_path, monkeypatch, seed
):
    sessions = []
    session = VolcanoScheduler.session
    monkeypatch.setattr(
        VolcanoScheduler, "session", lambda self: sessions.append(self) or session(self)
    )
    platform, jobs = drawn(seed)
    again = ({**it["metadata"], "name": f"{it['metadata']['name']}-again"} for it in jobs)
    jobs += [{**it, "metadata": made} for it, made in zip(jobs, again, strict=True)]
    spec = written(tmp_path, platform.spec, "spec.yaml")
    request = SimulateRequest((spec,), workloads=(written(tmp_path, json_documents(jobs)),))
    found = app_simulate.simulate(request._replace(until=1.0)).result
    assert len(found.livelocks) == 1
    assert len(sessions) < 30 * len({*map(id, sessions)})
