"""`policygen lint --snapshot spec/`: a cluster is compared with what the spec renders."""

import copy
import json
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.client import snapshot_file as snapshots
from policygen.core.finding import At
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import GroupKind
from policygen.lint.kinds import every
from tests.client.looks import snapshot

ROOT = Path(__file__).parents[2]
STORY = ROOT / "examples" / "kueue-team-tree"
SPEC = [str(path) for path in sorted(STORY.glob("*.yaml"))]
RULES = (
    "field-drifted",
    "object-missing",
    "object-orphaned",
    "object-of-another-spec",
    "object-managed-by-another",
)
ONLY = [word for rule in RULES for word in ("--rule", rule)]
QUEUE = "ClusterQueue evaluation.a100"
GPU = "nvidia.com/gpu"


@pytest.fixture
def cluster():
    text = (STORY / "expected" / "manifests.yaml").read_text("utf-8")
    return {str(Object.read(it, At(0))): it for it in yaml.load_all(text, Loader=yaml.CSafeLoader)}


@pytest.fixture
def lint(tmp_path):
    def run(things, *options, spec=SPEC, **seen):
        path = tmp_path / "cluster.snapshot"
        snapshots.write(snapshot(yaml.safe_dump_all(things.values()), **seen), path)
        arguments = ["lint", "--snapshot", str(path), *ONLY, "-f", "json", *options, *spec]
        done = CliRunner().invoke(cli, arguments)
        assert done.exit_code in {0, 1, 3}, done.output
        report = json.loads(done.stdout)
        return {(it["rule"], it["object"], it["path"]): it for it in report["findings"]}, done

    return run


def config_maps(things):
    names = (it["metadata"]["name"] for it in things.values() if it["kind"] == "ConfigMap")
    return frozenset(names)


def test_what_was_applied_has_not_drifted(lint, cluster):
    told, done = lint(cluster)
    assert (told, done.exit_code) == ({}, 0)


@pytest.mark.parametrize(
    "options, seen, compared",
    [
        ((), {}, True),
        (("--skip", "object-orphaned"), {}, False),
        ((), {"read": every() - {GroupKind("", "LimitRange")}}, False),
        ((), {"redacted": True}, False),
        ((), {"spec": ()}, False),
    ],
)
def test_that_nothing_drifted_is_a_metric_only_where_all_was_compared(
    lint, cluster, tmp_path, options, seen, compared
):
    lint(cluster, "-f", f"prometheus={tmp_path / 'm'}", *options, **seen)
    told = 'policygen_drifted{cluster="east"} 0' in (tmp_path / "m").read_text("utf-8")
    assert told == compared


def test_a_changed_quota_names_field_editor_spec_line_and_patch(lint, cluster):
    queue = cluster[QUEUE]
    cells = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    place = [cell["name"] for cell in cells].index("nvidia.com/gpu")
    cells[place]["nominalQuota"] = "12"
    queue["metadata"]["managedFields"] = [
        {
            "manager": "kubectl-edit",
            "operation": "Update",
            "apiVersion": queue["apiVersion"],
            "time": "2026-11-21T03:00:12Z",
            "fieldsV1": {"f:spec": {"f:resourceGroups": {}}},
        }
    ]
    told, done = lint(cluster)
    path = f"spec.resourceGroups[0].flavors[0].resources[{place}].nominalQuota"
    ((key, it),) = told.items()
    assert key == ("field-drifted", QUEUE, path)
    assert done.exit_code == 1
    assert it["message"] == (
        'nominalQuota of resource nvidia.com/gpu of flavor a100 is "12" on the cluster, but the spec renders "8"; '
        "written by kubectl-edit (Update), at 2026-11-21T03:00:12Z"
    )
    (related,) = it["related"]
    line = (
        Path(related["place"]["file"]).read_text("utf-8").splitlines()[related["place"]["line"] - 1]
    )
    assert line.strip() == "guarantee: 8"
    assert it["command"].startswith(
        "kubectl --context east patch clusterqueues.v1beta2.kueue.x-k8s.io evaluation.a100 --type=json"
    )


@pytest.mark.parametrize(
    "resource, there, said",
    [
        (
            "cpu",
            "33",
            'is "33" on the cluster, but the spec renders "95690m" (33 cores and 95.69 cores); ',
        ),
        ("memory", "1099511627776", "(1 TiB and 1.27 TiB); "),
        ("nvidia.com/gpu", "12", 'is "12" on the cluster, but the spec renders "8"; '),
    ],
)
def test_amounts_are_also_shown_for_people(lint, cluster, resource, there, said):
    cells = cluster[QUEUE]["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    (cell,) = (it for it in cells if it["name"] == resource)
    cell["nominalQuota"] = there
    told, _ = lint(cluster)
    ((_, it),) = told.items()
    assert it["message"].startswith(f"nominalQuota of resource {resource} of flavor a100 ")
    assert said in it["message"]


def test_the_text_shows_the_line_of_the_spec_and_the_command(lint, cluster, tmp_path):
    cluster[QUEUE]["spec"]["stopPolicy"] = "Hold"
    lint(cluster, "-f", "text=" + str(tmp_path / "out.txt"))
    text = (tmp_path / "out.txt").read_text("utf-8")
    assert "    - pool: a100" in text
    assert "$ kubectl --context east patch" in text
    assert '"path":"/spec/stopPolicy","value":"None"' in text


def test_missing_orphaned_and_taken_over(lint, cluster):
    other = copy.deepcopy(cluster[QUEUE])
    other["metadata"]["name"] = "old.a100"
    namespace = copy.deepcopy(cluster["Namespace evaluation"])
    namespace["metadata"]["name"] = "old"
    del cluster[QUEUE]
    cluster |= {"orphan": other, "namespace": namespace}
    cohort = cluster["Cohort a100"]["metadata"]
    cohort["labels"]["app.kubernetes.io/managed-by"] = "Helm"
    flavor = cluster["ResourceFlavor a100"]["metadata"]
    flavor["ownerReferences"] = [{"kind": "Fleet", "name": "gpus", "controller": True}]
    told, _ = lint(cluster)
    assert set(told) == {
        ("object-missing", QUEUE, None),
        ("object-orphaned", "ClusterQueue old.a100", None),
        (
            "object-managed-by-another",
            "Cohort a100",
            'metadata.labels["app.kubernetes.io/managed-by"]',
        ),
        ("object-managed-by-another", "ResourceFlavor a100", "metadata.ownerReferences[0]"),
    }


def test_an_empty_cluster_misses_everything(lint, cluster):
    told, _ = lint({}, config_maps=config_maps(cluster))
    assert len(told) == len(cluster)
    assert {rule for rule, _, _ in told} == {"object-missing"}


def test_a_missing_namespace_is_reported_with_its_missing_objects(lint, cluster):
    """No script creates the namespace."""
    del cluster["LocalQueue language/a100"]
    told, _ = lint(cluster)
    ((_, it),) = told.items()
    assert it["message"].endswith(
        "; namespace language is missing too; create the namespace, then apply the spec again"
    )
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "language"}}
    told, _ = lint(cluster | {"there": namespace})
    ((_, it),) = told.items()
    assert it["message"].endswith("never applied; apply the spec again")


def test_what_was_not_read_is_not_missing(lint, cluster):
    without = {key: it for key, it in cluster.items() if it["kind"] != "Cohort"}
    told, done = lint(without, read=every() - {GroupKind("kueue.x-k8s.io", "Cohort")})
    assert {rule for rule, _, _ in told} == {"not-read"}
    assert done.exit_code == 3


def test_a_config_map_that_was_not_requested_is_not_missing(lint, cluster, tmp_path):
    """ConfigMaps are read by name, so a snapshot taken without the spec does not know the spec's."""
    (name,) = (key for key, it in cluster.items() if it["kind"] == "ConfigMap")
    without = {key: it for key, it in cluster.items() if key != name}
    told, done = lint(without, "--patches", str(tmp_path / "patches"))
    assert {rule for rule, _, _ in told} == {"not-read"}
    assert done.exit_code == 3
    (it,) = told.values()
    assert cluster[name]["metadata"]["name"] in it["message"]
    assert (
        "the snapshot was taken without this spec; take a new snapshot with the spec"
        in it["message"]
    )
    assert not (tmp_path / "patches").exists()
    told, _ = lint(without, config_maps=config_maps(cluster))
    assert list(told) == [("object-missing", name, None)]
    assert lint(cluster)[0] == {}


def test_what_only_an_option_renders_is_not_orphaned(lint):
    """Another run can apply it with `--with`."""
    example = str(ROOT / "examples" / "serving-slices" / "policy.yaml")
    extras = ("device-plugin", "mig-manager", "monitoring", "volcano-config", "vpa", "workloads")
    options = [word for it in extras for word in ("--with", it)]
    made = CliRunner().invoke(cli, ["render", example, *options])
    assert made.exit_code == 0, made.stderr
    things = list(yaml.load_all(made.stdout, Loader=yaml.CSafeLoader))
    kinds = [it["kind"] for it in things]
    assert kinds.count("ConfigMap") >= 3
    found, _ = lint({str(Object.read(it, At(0))): it for it in things}, spec=[example])
    assert [key for key in found if key[0] == "object-orphaned"] == []


def test_an_autoscaler_is_compared_and_what_it_scales_is_not(lint):
    example = str(ROOT / "examples" / "ml-platform" / "policy.yaml")
    made = CliRunner().invoke(cli, ["render", example, "--with", "workloads"])
    things = {
        str(Object.read(it, At(0))): it
        for it in yaml.load_all(made.stdout, Loader=yaml.CSafeLoader)
    }
    hpa, budget = "HorizontalPodAutoscaler vision/segmenter", "PodDisruptionBudget vision/segmenter"
    options = "--with", "workloads"
    assert lint(things, *options, spec=[example])[0] == {}
    things["Deployment vision/segmenter"]["spec"]["replicas"] = 4
    things[hpa]["spec"]["maxReplicas"] = 9
    things[budget]["spec"]["maxUnavailable"] = 2
    found, _ = lint(things, *options, spec=[example])
    assert {key[:2] for key in found} == {("field-drifted", hpa), ("field-drifted", budget)}
    assert lint(things, spec=[example])[0] == {}


def waiving(folder, **words):
    """The story's spec with a waiver of drift."""
    entry = "".join(f"        {key}: {json.dumps(value)}\n" for key, value in words.items())
    waiver = f"  lint:\n    waivers:\n      - rule: field-drifted\n        reason: moves\n{entry}"
    platform = (STORY / "platform.yaml").read_text("utf-8")
    changed = folder / "platform.yaml"
    changed.write_text(platform.replace("\nspec:\n", f"\nspec:\n{waiver}", 1), "utf-8")
    return [str(changed), *(path for path in SPEC if "platform" not in path)]


def test_waivers_accept_a_difference(lint, cluster, tmp_path):
    cluster[QUEUE]["spec"]["stopPolicy"] = "Hold"
    patches = tmp_path / "patches"
    told, done = lint(cluster, "--patches", str(patches), spec=waiving(tmp_path, object=QUEUE))
    assert (told, done.exit_code) == ({}, 0)
    assert "all drift is waived or in the baseline, so no patch is written" in done.stderr
    assert not patches.exists()


def test_no_patch_creates_objects_of_kinds_that_the_cluster_does_not_serve(lint, cluster, tmp_path):
    patches = tmp_path / "patches"
    unserved = frozenset(it for it in every() if it.group.endswith("x-k8s.io"))
    left = {name: it for name, it in cluster.items() if "x-k8s.io" not in it["apiVersion"]}
    told, done = lint(
        left,
        "--patches",
        str(patches),
        read=every() - unserved,
        unserved=unserved,
        config_maps=config_maps(cluster),
    )
    assert [it["rule"] for it in told.values()] == ["object-missing"]
    assert "does not know the kinds of missing objects, so no patch is written" in done.stderr
    assert not patches.exists()


@pytest.mark.parametrize(
    "field",
    ["*.nominalQuota", f'spec.resourceGroups[0].flavors.a100.resources["{GPU}"].nominalQuota'],
)
def test_a_field_that_another_owns_is_waived_and_the_others_are_not(lint, cluster, tmp_path, field):
    """If an autoscaler owns a quota, a Hold at night is still reported, and is the only fix."""
    spec = cluster[QUEUE]["spec"]
    (gpus,) = (
        it for it in spec["resourceGroups"][0]["flavors"][0]["resources"] if it["name"] == GPU
    )
    gpus["nominalQuota"] = "77"
    spec["stopPolicy"] = "Hold"
    patches = tmp_path / "patches"
    told, done = lint(
        cluster,
        "--patches",
        str(patches),
        spec=waiving(tmp_path, object=QUEUE, field=field),
    )
    assert list(told) == [("field-drifted", QUEUE, "spec.stopPolicy")]
    assert done.exit_code == 1
    written = "".join(it.read_text("utf-8") for it in patches.rglob("*") if it.is_file())
    assert "stopPolicy" in written
    assert "77" not in written


def test_objects_of_another_spec_are_never_deleted(lint, cluster, tmp_path):
    """Two specs with one set name on one cluster."""
    text = (ROOT / "examples/spot-and-on-demand/expected/manifests.yaml").read_text("utf-8")
    name = cluster[QUEUE]["metadata"]["labels"]["policygen.dev/set"]
    for it in yaml.load_all(text, Loader=yaml.CSafeLoader):
        it["metadata"]["labels"]["policygen.dev/set"] = name
        cluster.setdefault(str(Object.read(it, At(0))), it)
    told, done = lint(cluster, "--patches", str(tmp_path / "patches"))
    assert {rule for rule, _, _ in told} == {"object-of-another-spec"}
    assert any(it.startswith("ClusterQueue ") for _, it, _ in told)
    assert not (tmp_path / "patches").exists(), done.stderr


def test_a_name_is_never_an_option_of_kubectl(lint, cluster, tmp_path):
    """A snapshot may contain any name, and servers accept `--all` as the name of a ClusterRole."""
    cluster["hostile"] = copy.deepcopy(cluster[QUEUE])
    cluster["hostile"]["metadata"]["name"] = "--all"
    told, _ = lint(cluster, "--patches", str(tmp_path / "patches"))
    assert list(told) == [("object-orphaned", "ClusterQueue --all", None)]
    (script,) = (tmp_path / "patches").rglob("delete.sh")
    (command,) = (it for it in script.read_text("utf-8").splitlines() if "kubectl" in it)
    assert command.endswith(" delete clusterqueues.v1beta2.kueue.x-k8s.io/--all")


@pytest.mark.parametrize(
    "more, says",
    [
        ((), "the clusters have no drift to fix"),
        (("--skip", "field-drifted"), "no cluster was compared with the spec"),
    ],
)
def test_no_patch_is_written_for_a_reason_that_is_true(lint, cluster, tmp_path, more, says):
    patches = tmp_path / "patches"
    _, done = lint(cluster, "--patches", str(patches), *more)
    assert f"{says}, so no patch is written" in done.stderr
    assert not patches.exists()


def test_patches_are_scripts_that_a_shell_reads(lint, cluster, tmp_path):
    cluster[QUEUE]["spec"]["stopPolicy"] = "Hold"
    local = next(it for it in cluster.values() if it["kind"] == "LocalQueue")
    local["spec"]["clusterQueue"] = "elsewhere"
    other = copy.deepcopy(cluster["Cohort a100"])
    other["metadata"]["name"] = "old"
    cluster["orphan"] = other
    gone = cluster.pop("ResourceFlavor a100")
    folder = tmp_path / "patches"
    lint(cluster, "--patches", str(folder))
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert [name.partition("/")[2] for name in files if name.endswith(".sh")] == [
        "delete.sh",
        "mend.sh",
        "recreate.sh",
    ]
    assert {name.partition("/")[0] for name in files} == {"east"}
    made = [yaml.safe_load(path.read_text("utf-8")) for path in folder.rglob("*.yaml")]
    assert {it["kind"] for it in made} == {gone["kind"], "LocalQueue"}
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "kubectl").write_text('#!/bin/sh\nprintf "%s\\n" "$*"\n')
    (fake / "kubectl").chmod(0o755)
    for name, words in (
        ("mend.sh", ["apply --server-side -f manifests/", "--type=json --patch-file patches/"]),
        ("recreate.sh", ["delete localqueues.v1beta2.kueue.x-k8s.io", "apply --server-side"]),
        ("delete.sh", ["delete cohorts.v1beta2.kueue.x-k8s.io old"]),
    ):
        done = subprocess.run(
            ["sh", str(folder / "east" / name)],
            env={"PATH": f"{fake}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert all(line.startswith("--context east ") for line in done.stdout.splitlines())
        assert all(word in done.stdout for word in words), done.stdout
    look = str(tmp_path / "cluster.snapshot")
    again = CliRunner().invoke(cli, ["lint", "--snapshot", look, "--patches", str(folder), *SPEC])
    assert "name a new folder" in str(again.exception)


def test_clusters_of_names_that_one_folder_could_have_get_a_folder_each(lint, cluster, tmp_path):
    cluster[QUEUE]["spec"]["stopPolicy"] = "Hold"
    more, folder = [], tmp_path / "patches"
    for number, context in enumerate(("prod:a", "prod-a", "prod-a-2")):
        path = tmp_path / f"{number}.snapshot"
        things = yaml.safe_dump_all(cluster.values())
        snapshots.write(snapshot(things, context=context), path)
        more += ["--snapshot", str(path)]
    lint(cluster, *more, "--patches", str(folder), context="prod/a")
    said = {path.name: (path / "mend.sh").read_text("utf-8") for path in folder.iterdir()}
    assert len(said) == 4
    for context in ("prod/a", "prod:a", "prod-a", "prod-a-2"):
        assert sum(f"--context {context} " in text for text in said.values()) == 1


def test_commands_name_the_kubeconfig_that_was_named(lint, cluster, tmp_path, monkeypatch):
    """The scripts run from any folder: they change to their own folder."""
    monkeypatch.chdir(tmp_path)
    cluster[QUEUE]["spec"]["stopPolicy"] = "Hold"
    del cluster["ResourceFlavor a100"]
    cohort = cluster["Cohort a100"]["metadata"]
    cohort["labels"]["app.kubernetes.io/managed-by"] = "Helm"
    told, _ = lint(cluster, "--kubeconfig", "my config", "--patches", "patches")
    commands = [it["command"] for it in told.values() if it["command"]]
    assert len(commands) == 2
    begin = "kubectl --kubeconfig 'my config' --context east "
    assert all(it.startswith(begin) for it in commands), commands
    folder = tmp_path / "patches" / "east"
    scripts = [(folder / name).read_text("utf-8") for name in ("mend.sh", "take-over.sh")]
    sent = [[it for it in script.splitlines() if "kubectl" in it] for script in scripts]
    assert [len(it) for it in sent] == [2, 1], "another tool's object is in a separate script"
    assert "cohorts.v1beta2.kueue.x-k8s.io a100" in sent[1][0]
    named = f"kubectl --kubeconfig '{tmp_path}/my config' --context east "
    assert all(named in line for each in sent for line in each)


def test_a_cluster_without_karpenter_names_it(lint):
    kind = GroupKind("karpenter.sh", "NodePool")
    spec = [str(STORY.parent / "node-autoscalers" / "policy.yaml")]
    seen = {"read": every() - {kind}, "unserved": frozenset({kind})}
    told, _ = lint({}, "--with", "node-autoscaler", spec=spec, **seen)
    (message,) = [it["message"] for it in told.values() if "NodePool" in it["message"]]
    assert "Karpenter is not installed or is too old; install or upgrade Karpenter" in message


def test_a_cluster_without_kueue_is_reported_once(lint, cluster, tmp_path):
    """No script creates objects of kinds that the cluster does not serve."""
    gone = {name for name, it in cluster.items() if it["apiVersion"].startswith("kueue.x-k8s.io/")}
    kinds = {cluster[name]["kind"] for name in gone}
    for name in gone:
        del cluster[name]
    told, done = lint(
        cluster,
        "--patches",
        str(tmp_path / "patches"),
        read=frozenset(it for it in every() if it.group != "kueue.x-k8s.io"),
        unserved=frozenset(it for it in every() if it.group == "kueue.x-k8s.io"),
    )
    ((_, it),) = told.items()
    assert it["message"] == (
        "the cluster does not serve ClusterQueue, Cohort, LocalQueue and "
        f"{len(kinds) - 3} more kinds, so {len(gone)} objects of the spec cannot be created: Kueue is not installed or is too old; "
        "install or upgrade Kueue, or select another cluster"
    )
    assert done.exit_code == 1
    assert not (tmp_path / "patches").exists()


def test_commands_for_one_object_do_not_undo_one_another(lint, cluster):
    """Nor labels that others have set: each command only adds labels, whether some exist or not."""
    queue = cluster[QUEUE]
    ours = queue["metadata"].pop("labels")
    told, _ = lint(cluster)
    assert len(told) == len(ours) == 2
    assert told[("field-drifted", QUEUE, 'metadata.labels["policygen.dev/set"]')][
        "message"
    ].startswith("label policygen.dev/set is not set on the cluster")
    queue["metadata"]["labels"] = {"theirs": "kept"}
    for it in told.values():
        words = shlex.split(it["command"])
        assert words[-3] == "--type=merge"
        merge(queue, json.loads(words[-1]))
    assert queue["metadata"]["labels"] == {"theirs": "kept", **ours}
    assert lint(cluster)[0] == {}


def merge(thing, patch):
    """Applies a merge patch like a server (RFC 7386), if it removes nothing."""
    for key, value in patch.items():
        if isinstance(value, dict):
            merge(thing.setdefault(key, {}), value)
        else:
            thing[key] = value


def test_commands_of_a_pod_name_no_context(lint, cluster, tmp_path):
    cluster[QUEUE]["spec"]["stopPolicy"] = "Hold"
    named = ["--kubeconfig", "other", "--patches", str(tmp_path / "patches")]
    told, _ = lint(cluster, *named, context="in-cluster", in_cluster=True)
    ((_, it),) = told.items()
    assert it["command"].startswith("kubectl patch clusterqueues.")
    script = (tmp_path / "patches" / "in-cluster" / "mend.sh").read_text("utf-8")
    assert "run kubectl patch clusterqueues." in script
    assert "--context" not in script + it["command"]


def test_an_older_api_version_is_read_as_the_newest(lint, cluster, tmp_path):
    queue = cluster[QUEUE]
    queue["apiVersion"] = "kueue.x-k8s.io/v1beta1"
    queue["spec"]["cohort"] = queue["spec"].pop("cohortName")
    told, _ = lint(cluster)
    assert told == {}
    queue["spec"]["cohort"] = "elsewhere"
    told, _ = lint(cluster)
    ((key, it),) = told.items()
    assert key == ("field-drifted", QUEUE, "spec.cohort")
    assert "first set target in the Platform to the release of the cluster" in it["message"]
    assert it["command"] is None
    lint(cluster, "--patches", str(tmp_path / "patches"))
    assert not (tmp_path / "patches").exists()


def test_hashed_names_are_held_against_no_spec(lint, cluster):
    told, done = lint(cluster, redacted=True)
    assert {rule for rule, _, _ in told} == {"not-read"}
    assert done.exit_code == 3
    rules = {it["rule"]: it for it in json.loads(done.stdout)["rules"]}
    assert {rules[name]["verdict"] for name in RULES} == {"not evaluated"}
    assert all("is redacted" in rules[name]["reason"] for name in RULES)


def test_text_names_redaction_as_the_reason(tmp_path, cluster):
    path = tmp_path / "shared.snapshot"
    snapshots.write(snapshot(yaml.safe_dump_all(cluster.values()), redacted=True), path)
    done = CliRunner().invoke(cli, ["lint", "--snapshot", str(path), *ONLY, *SPEC])
    assert (
        f"not evaluated: {len(RULES)} rules (-f json lists these rules), because the input lacks: readable "
        "names (the snapshot is redacted)"
    ) in done.stdout


def test_what_was_deleted_and_is_held_goes(lint, cluster, tmp_path):
    metadata = cluster["ResourceFlavor a100"]["metadata"]
    metadata |= {
        "deletionTimestamp": "2026-11-21T03:00:00Z",
        "finalizers": ["kueue.x-k8s.io/resource-in-use"],
    }
    told, _ = lint(cluster, "--patches", str(tmp_path / "patches"))
    ((key, it),) = told.items()
    assert key == ("object-missing", "ResourceFlavor a100", None)
    assert "was deleted at 2026-11-21T03:00:00Z" in it["message"]
    script = (tmp_path / "patches" / "east" / "recreate.sh").read_text("utf-8")
    assert "--wait=false" in script
    assert '{"metadata":{"finalizers":null}}' in script
