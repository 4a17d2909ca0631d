"""`policygen lint --snapshot`: a snapshot is checked like manifests, except for what was not read."""

import json

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.client import snapshot_file as snapshots
from policygen.kubernetes.snapshot import Gap, GroupKind
from policygen.lint.kinds import every
from tests.client.looks import snapshot

KUEUE = "kueue.x-k8s.io"
LOCAL = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: vision}
spec: {clusterQueue: vision.a1000}
---
apiVersion: v1
kind: Namespace
metadata: {name: vision, labels: {kubernetes.io/metadata.name: vision}}
"""
RULE = "local-queue-without-cluster-queue"


@pytest.fixture
def lint(tmp_path):
    def run(*looks, options=()):
        arguments = []
        for number, look in enumerate(looks):
            path = tmp_path / f"{number}.snapshot"
            if isinstance(look, bytes):
                path.write_bytes(look)
            else:
                snapshots.write(look, path)
            arguments += ["--snapshot", path]
        done = CliRunner().invoke(cli, ["lint", *map(str, arguments), "-f", "json", *options])
        report = json.loads(done.stdout)
        return done.exit_code, report, {each["rule"]: each for each in report["rules"]}

    return run


def without(*kinds):
    return every() - set(kinds)


def test_a_finding_names_cluster_object_and_field_and_no_file(lint):
    code, report, rules = lint(snapshot(LOCAL))
    assert code == 1
    (found,) = (it for it in report["findings"] if it["rule"] == RULE)
    assert (found["cluster"], found["object"]) == ("east", "LocalQueue vision/a100")
    assert (found["path"], found["place"]) == ("spec.clusterQueue", None)
    assert rules[RULE]["verdict"] == "fail"
    assert report["complete"]


def test_what_could_not_be_read_is_named_and_never_clean(lint):
    gap = Gap(KUEUE, "ClusterQueue", "", "forbidden")
    look = snapshot(LOCAL, read=without((KUEUE, "ClusterQueue")), gaps=(gap,))
    code, report, rules = lint(look)
    assert code == 3
    assert not report["complete"]
    assert rules[RULE]["verdict"] == "not evaluated"
    assert "ClusterQueue.kueue.x-k8s.io could not be read: forbidden" in rules[RULE]["reason"]
    (found,) = (it for it in report["findings"] if it["rule"] == "not-read")
    assert found["message"] == "ClusterQueue.kueue.x-k8s.io could not be read: forbidden"


def test_a_field_of_a_wrong_type_is_reported_clearly(lint):
    look = snapshot(LOCAL.replace("clusterQueue: vision.a1000", "clusterQueue: 5"))
    code, report, _ = lint(look, options=("--rule", RULE))
    assert (code, report["complete"]) == (3, False)
    (found,) = (it for it in report["findings"] if it["rule"] == "not-read")
    assert found["message"] == (
        "LocalQueue vision/a100 could not be read: clusterQueue is 5, but must be a string; put it in quotes"
    )
    assert found["path"] == "spec.clusterQueue"


@pytest.mark.parametrize(
    "reason, is_told",
    [
        ("403: User u cannot list", True),
        ("the server answered 403", True),
        ("no answer in 4030 s", False),
    ],
)
def test_missing_permissions_name_the_command_that_prints_them(tmp_path, reason, is_told):
    gap = Gap(KUEUE, "ClusterQueue", "", reason)
    path = tmp_path / "x.snapshot"
    snapshots.write(snapshot(LOCAL, read=without((KUEUE, "ClusterQueue")), gaps=(gap,)), path)
    done = CliRunner().invoke(cli, ["lint", "--snapshot", str(path)])
    assert done.exit_code == 3
    assert "some input could not be read" in done.stderr
    assert ("`policygen rbac` prints the required permissions" in done.stderr) is is_told


def test_a_kind_that_the_server_does_not_have_is_absent(lint):
    look = snapshot(
        LOCAL,
        read=without((KUEUE, "ClusterQueue")),
        unserved=frozenset({GroupKind(KUEUE, "ClusterQueue")}),
    )
    code, report, rules = lint(look)
    assert code == 1
    assert rules[RULE]["verdict"] == "fail"
    assert report["complete"]


def test_what_can_still_be_decided_is_found(lint):
    """A rule about several kinds checks those that were read."""
    zero = """
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: vision}
spec:
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      schedulerName: volcanoo
      containers:
        - name: c
"""
    rule = "scheduler-name-misspelt"
    gap = Gap("apps", "StatefulSet", "", "forbidden")
    code, _, rules = lint(
        snapshot(zero, read=without(("apps", "StatefulSet")), gaps=(gap,)), options=["--rule", rule]
    )
    assert rules[rule]["verdict"] == "fail"
    assert code == 3


def test_an_unread_kind_that_no_selected_rule_needs_is_ignored(lint):
    gap = Gap("apps", "StatefulSet", "", "forbidden")
    look = snapshot(LOCAL, read=without(("apps", "StatefulSet")), gaps=(gap,))
    code, report, _ = lint(look, options=["--rule", RULE])
    assert code == 1
    assert report["complete"]


def test_a_server_without_a_version_is_reported(lint):
    for reason, why in (("", ""), ("500: no", " (500: no)")):
        look = snapshot(LOCAL, server="", no_server=reason)
        code, report, _ = lint(look, options=["--rule", RULE])
        assert (code, report["complete"]) == (3, False)
        told = [it["message"] for it in report["findings"] if it["rule"] == "not-read"]
        assert told == [
            f"the version of the server could not be read{why}, so the target version is used"
        ]


def test_a_missing_namespace_is_reported(lint):
    code, report, _ = lint(snapshot(LOCAL, namespaces=("visoin",)), options=["--rule", RULE])
    assert code == 3
    told = [it["message"] for it in report["findings"] if it["rule"] == "not-read"]
    said = 'namespace "visoin" does not exist, so nothing was read in it; did you mean "vision"?'
    assert told == [said]
    _, report, _ = lint(snapshot(LOCAL, namespaces=("vision",)), options=["--rule", RULE])
    assert report["complete"]


def test_a_namespace_that_may_not_exist_is_reported(lint):
    """As for a user who may list only in some namespaces."""
    for name, code_, told in (("visoin", 3, 1), ("vision", 1, 0)):
        look = snapshot(LOCAL, read=without(("", "Namespace")), namespaces=(name,))
        code, report, _ = lint(look, options=["--rule", RULE])
        assert (code, report["complete"]) == (code_, not told)
        assert len([it for it in report["findings"] if it["rule"] == "not-read"]) == told


def test_a_snapshot_is_not_read_from_standard_input():
    done = CliRunner().invoke(cli, ["lint", "--snapshot", "-"])
    assert done.exit_code == 2
    assert "--snapshot cannot read standard input" in done.stderr


def test_an_unreadable_snapshot_is_an_error_and_incomplete(lint):
    code, report, _ = lint(b"kind: List")
    assert code == 3
    assert "is not a snapshot" in report["findings"][0]["message"]


def test_findings_of_several_clusters_are_distinguished(lint):
    _, report, rules = lint(snapshot(LOCAL), snapshot(LOCAL, context="west"))
    found = [it for it in report["findings"] if it["rule"] == RULE]
    assert [it["cluster"] for it in found] == ["east", "west"]
    assert len({it["fingerprint"] for it in found}) == 2
    assert len(report["rules"]) == len(rules)


def test_controllers_files_are_read_inside_config_maps(lint):
    text = """
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: volcano-system}
data:
  volcano-scheduler.conf: |
    actions: "enqueue, allocate"
    tiers:
      - plugins:
          - name: no-such-plugin
"""
    _, report, _ = lint(snapshot(text))
    place = next(it["place"] for it in report["findings"] if "no-such-plugin" in it["message"])
    assert place["file"] == (
        "ConfigMap volcano-system/volcano-scheduler-configmap volcano-scheduler.conf"
    )
    assert place["line"] == 4


def test_what_another_object_made_is_not_judged_again(lint):
    """A ReplicaSet repeats its Deployment's pod template, and a finished Job needs no resources."""
    made = """
apiVersion: v1
kind: Namespace
metadata: {name: vision}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: j
  namespace: vision
  labels: {kueue.x-k8s.io/queue-name: nowhere}
spec: {template: {spec: {containers: [{name: c}]}}}
"""
    _, report, _ = lint(snapshot(made))
    assert any("nowhere" in it["message"] for it in report["findings"])
    owner = "  ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: x, uid: u, controller: true}]\n"
    _, report, _ = lint(snapshot(made.replace("spec: {", f"{owner}spec: {{", 1)))
    assert not any("nowhere" in it["message"] for it in report["findings"])
    ended = "status: {conditions: [{type: Complete, status: 'True'}]}\n"
    _, report, _ = lint(snapshot(made + ended))
    assert not any("nowhere" in it["message"] for it in report["findings"])


def test_clusters_with_different_releases_are_reported(lint):
    _, report, _ = lint(
        snapshot(LOCAL),
        snapshot(LOCAL, context="west", server="v1.36.1"),
        snapshot(LOCAL, context="south", server="v1.35.4"),
    )
    (found,) = (it for it in report["findings"] if it["rule"] == "versions-differ")
    assert found["cluster"] == "south"
    assert found["message"].startswith("kubernetes is 1.35 on south, but 1.36 on east, west; ")


def test_with_some_namespaces_rules_about_the_whole_cluster_are_not_evaluated(lint):
    """A ClusterQueue's LocalQueue may be in an unread namespace, but not a LocalQueue's ClusterQueue."""
    queue = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: speech}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: cpu, resources: [{name: cpu, nominalQuota: 96}]}]
"""
    rule = "cluster-queue-selects-no-namespace"
    _, _, rules = lint(snapshot(f"{queue}---{LOCAL}"))
    assert rules[rule]["verdict"] != "not evaluated"
    _, report, rules = lint(snapshot(f"{queue}---{LOCAL}", namespaces=("vision",)))
    assert rules[rule]["verdict"] == "not evaluated"
    assert rules[rule]["reason"] == "LocalQueue objects were read only in these namespaces: vision"
    assert rules[RULE]["verdict"] == "fail"
    assert report["complete"]


def test_an_object_that_cannot_be_read_is_named_and_never_clean(lint):
    text = LOCAL.replace("{clusterQueue: vision.a1000}", "{clusterQueue: [1]}")
    code, report, _ = lint(snapshot(text))
    (found,) = (it for it in report["findings"] if it["rule"] == "not-read")
    assert (found["object"], found["path"]) == ("LocalQueue vision/a100", "spec.clusterQueue")
    assert (code, report["complete"]) == (3, False)


def test_a_cluster_that_is_lost_hides_nothing_of_another(lint):
    code, report, rules = lint(b"junk", snapshot(LOCAL))
    assert (code, report["complete"]) == (3, False)
    assert rules[RULE]["verdict"] == "fail"


def test_what_was_not_seen_this_time_is_not_gone_from_the_baseline(lint, tmp_path):
    """A baseline entry is not stale if its cluster or kind could not be read."""
    known = tmp_path / "known.json"
    whole = tmp_path / "whole.snapshot"
    snapshots.write(snapshot(LOCAL), whole)
    update = ["baseline", "update", "--baseline", str(known), "--snapshot", str(whole)]
    assert CliRunner().invoke(cli, update).exit_code == 0
    options = ["--baseline", str(known)]

    def stale(*looks):
        return "baseline-stale" in {
            it["rule"] for it in lint(*looks, options=options)[1]["findings"]
        }

    gap = Gap(KUEUE, "LocalQueue", "", "forbidden")
    mended = (
        LOCAL.replace("vision.a1000", "there")
        + """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: there}
spec: {namespaceSelector: {}}
"""
    )
    assert not stale(snapshot(LOCAL))
    assert stale(snapshot(mended))
    assert not stale(snapshot(read=without((KUEUE, "LocalQueue")), gaps=(gap,)))
    assert not stale(snapshot(mended), b"junk")


def test_the_worst_object_comes_first_with_all_its_findings(tmp_path):
    path = tmp_path / "east.snapshot"
    queue = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec: {{namespaceSelector: {{}}, stopPolicy: Hold, resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [{{name: {flavor}, resources: [{{name: nvidia.com/gpu, nominalQuota: 1}}]}}]}}]}}
---
"""
    config = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    featureGates: {Nonsense: true}
"""
    text = queue.format(name="a", flavor="there") + queue.format(name="b", flavor="gone")
    flavor = (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: there}\n---\n"
    )
    snapshots.write(snapshot(text + flavor + config), path)
    done = CliRunner().invoke(cli, ["lint", "--snapshot", str(path)])
    lines = [line for line in done.output.splitlines() if line.startswith("east: ")]
    named = [line.removeprefix("east: ").split(":")[0] for line in lines]
    queues = [name for name in named if name.startswith("ClusterQueue")]
    assert queues == ["ClusterQueue b"] * queues.count("ClusterQueue b") + ["ClusterQueue a"] * (
        queues.count("ClusterQueue a")
    )
    assert queues.count("ClusterQueue a")
    assert queues.count("ClusterQueue b") > 1
    assert "east: ConfigMap kueue-system/kueue-manager-config" in done.output


@pytest.mark.parametrize(
    "tag, told", [("v0.18.1", []), ("v0.25.0", ["0.25.0"]), ("v0.3.0", ["0.3.0"])]
)
def test_an_unknown_release_is_reported_without_a_spec_too(lint, tag, told):
    text = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: kueue-controller-manager, namespace: kueue-system}}
spec: {{template: {{spec: {{containers: [{{name: manager, image: "kueue:{tag}"}}]}}}}}}
"""
    _, report, _ = lint(snapshot(text))
    said = [
        it["message"] for it in report["findings"] if it["rule"] == "version-differs-from-target"
    ]
    assert len(said) == len(told)
    for version in told:
        assert (
            f"is kueue {version}; policygen supports kueue 0.13 to 0.19, so policygen checks the objects as if the version were 0.19"
            in said[0]
        )
