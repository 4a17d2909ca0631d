"""Each change to a cluster is reported exactly, and the printed patches undo it."""

import json
import shutil
from pathlib import Path
from random import Random

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from policygen.cli.main import cli
from policygen.core.finding import dotted
from tests.servers import kubectl
from tests.servers.bench import CONTEXT
from tests.servers.client import MERGE
from tests.servers.cluster import holds
from tests.servers.intrusions import ELSEWHERE, intrusions
from tests.servers.rendering import json_documents

EXAMPLES = Path(__file__).parents[2] / "examples"
STORIES = sorted(path.name for path in EXAMPLES.iterdir() if (path / "expected").is_dir())
WITH = {
    "serving-slices": ["--with", "device-plugin", "--with", "mig-manager"],
    "team-manifests": ["--with", "volcano-config"],
    "ten-models": ["--with", "volcano-config"],
    "three-schedulers": ["--with", "second-scheduler", "--with", "volcano-config"],
    "volcano-training": ["--with", "volcano-config"],
    "node-autoscalers": ["--with", "node-autoscaler"],
    "spot-and-on-demand": ["--with", "node-autoscaler"],
}
RULES = (
    "field-drifted",
    "object-missing",
    "object-orphaned",
    "object-of-another-spec",
    "object-managed-by-another",
)
SCENES, TOUCHED, TRIES = 3, 14, 8
"""For each example: how often, how many objects at once, how many things are tried on each."""


@pytest.fixture
def lint(cluster, tmp_path):
    numbers = iter(range(1000))

    def run(story):
        folder = tmp_path / f"patches-{next(numbers)}"
        spec = sorted(map(str, (EXAMPLES / story).glob("*.yaml")))
        options = [word for rule in RULES for word in ("--rule", rule)]
        options += ["--kubeconfig", str(cluster.bench.kubeconfig), "--context", CONTEXT]
        options += ["-f", "json", "--patches", str(folder), *WITH.get(story, ())]
        done = CliRunner().invoke(cli, ["lint", *options, *spec])
        assert done.exit_code in {0, 1}, (done.output, done.exception)
        report = json.loads(done.stdout)
        assert report["complete"], report
        return report["findings"], folder / CONTEXT

    return run


def ours(thing):
    """Our fields; `1` and `"1"` are one quantity."""
    return {key: _texts(value) for key, value in thing.items() if key not in ELSEWHERE}


def _texts(value):
    if isinstance(value, dict):
        return {key: _texts(each) for key, each in value.items()}
    return [_texts(each) for each in value] if isinstance(value, list) else str(value)


def applied(cluster, story):
    """The objects of an example, without workloads of models and admission policies.

    Workloads are compared only with `--with workloads`, and their CRDs are not installed. A policy that was
    changed can refuse all other objects.
    """
    text = (EXAMPLES / story / "expected" / "manifests.yaml").read_text("utf-8")
    things = [
        it
        for it in yaml.load_all(text, Loader=yaml.CSafeLoader)
        if "policygen.dev/model" not in it["metadata"]["labels"]
        and "AdmissionPolicy" not in it["kind"]
        and not it["metadata"]["name"].endswith("-admission")
    ]
    cluster.apply(json_documents(things))
    return things


def named(thing):
    metadata = thing["metadata"]
    name = metadata["name"]
    return (
        f"{thing['kind']} {metadata['namespace']}/{name}"
        if "namespace" in metadata
        else f"{thing['kind']} {name}"
    )


def live(cluster, thing):
    metadata = thing["metadata"]
    return cluster.get(
        thing["apiVersion"], thing["kind"], metadata["name"], metadata.get("namespace")
    )


@pytest.mark.parametrize("story", STORIES)
def test_what_was_applied_has_not_drifted(cluster, lint, story):
    applied(cluster, story)
    told, folder = lint(story)
    assert told == []
    assert not folder.exists()


FLAVOR = ("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "timeshared")
QUEUES = ("kueue.x-k8s.io/v1beta2", "ClusterQueue")


def active(cluster):
    return {it["metadata"]["name"] for it in cluster.objects(*QUEUES) if holds(it, "Active")}


@pytest.mark.parametrize(
    "send",
    [
        pytest.param(kubectl.run, id="our client"),
        pytest.param(
            kubectl.run_really,
            id="kubectl",
            marks=pytest.mark.skipif(not shutil.which("kubectl"), reason="no kubectl here"),
        ),
    ],
)
def test_the_scripts_fix_objects_in_use(cluster, lint, send):
    applied(cluster, "serving-slices")
    cluster.becomes("active queues", lambda: len(active(cluster)), 4)
    # From now on nothing of the flavor's labels can be changed, and queues hold it.
    cluster.patch(*FLAVOR, {"spec": {"topologyName": "strange"}})
    cluster.patch(*QUEUES, "chat.slices", {"spec": {"stopPolicy": "Hold"}})
    cluster.delete(*QUEUES, "search.slices")
    stray = live(
        cluster,
        {"apiVersion": QUEUES[0], "kind": QUEUES[1], "metadata": {"name": "chat.timeshared"}},
    )
    labels = stray["metadata"]["labels"]
    cluster.create({**stray, "metadata": {"name": "stray", "labels": labels}})
    cluster.delete(*FLAVOR[:2], "slices")
    told, folder = lint("serving-slices")
    assert {(it["rule"], it["object"], it["path"]) for it in told} == {
        ("field-drifted", "ResourceFlavor timeshared", "spec.topologyName"),
        ("field-drifted", "ClusterQueue chat.slices", "spec.stopPolicy"),
        ("object-missing", "ClusterQueue search.slices", None),
        ("object-missing", "ResourceFlavor slices", None),
        ("object-orphaned", "ClusterQueue stray", None),
    }
    for script in ("mend.sh", "recreate.sh", "delete.sh"):
        assert send(cluster.bench, folder / script) == []
    told, _ = lint("serving-slices")
    assert told == []
    cluster.becomes("active queues", lambda: len(active(cluster)), 4)


def test_an_environment_and_containers_of_others_are_taken_away(cluster, lint):
    """Their values are not read, so lint sends no request for them."""
    applied(cluster, "three-schedulers")
    name = "mixed-kube-scheduler"
    mine = {"name": "kube-scheduler", "env": [{"name": "A", "value": "s3cret"}]}
    other = {"name": "other", "image": "other:1", "args": ["s3cret"], "env": mine["env"]}
    pod = {"containers": [mine, other], "initContainers": [{**other, "name": "before"}]}
    changed = {"spec": {"template": {"spec": pod}}}
    path = f"/apis/apps/v1/namespaces/kube-system/deployments/{name}"
    strategic = "application/strategic-merge-patch+json"
    done = cluster.client.request("PATCH", path, changed, content_type=strategic)
    assert done.ok, done.message
    told, folder = lint("three-schedulers")
    at = "spec.template.spec"
    assert {(it["object"], it["path"]) for it in told} == {
        (f"Deployment kube-system/{name}", f"{at}.containers[0].env"),
        (f"Deployment kube-system/{name}", f"{at}.containers[1]"),
        (f"Deployment kube-system/{name}", f"{at}.initContainers"),
    }
    texts = [it["message"] + it["command"] for it in told]
    texts += [file.read_text("utf-8") for file in folder.rglob("*") if file.is_file()]
    assert "s3cret" not in "".join(texts)
    assert kubectl.run(cluster.bench, folder / "mend.sh") == []
    assert lint("three-schedulers")[0] == []
    # Of a container with another name, lint does not read all fields.
    renamed = [
        {"op": "replace", "path": "/spec/template/spec/containers/0/name", "value": "renamed"},
        {"op": "add", "path": "/spec/template/spec/containers/0/tty", "value": True},
    ]
    done = cluster.client.request(
        "PATCH", path, json.dumps(renamed), content_type=kubectl.JSON_PATCH
    )
    assert done.ok, done.message
    _, folder = lint("three-schedulers")
    assert kubectl.run(cluster.bench, folder / "mend.sh") == []
    assert lint("three-schedulers")[0] == []


def test_diff_reports_changes_since_a_snapshot(cluster, tmp_path):
    applied(cluster, "serving-slices")
    spec = sorted(map(str, (EXAMPLES / "serving-slices").glob("*.yaml")))
    access = ["--kubeconfig", str(cluster.bench.kubeconfig), "--context", CONTEXT]
    before = str(tmp_path / "before.snapshot")

    def diff():
        words = [word for path in spec for word in ("--spec", path)]
        done = CliRunner().invoke(cli, ["diff", before, *access, "-f", "json", *words])
        return json.loads(done.stdout), done.exit_code

    def settled():
        taken = CliRunner().invoke(cli, ["snapshot", *access, "-o", before, *spec])
        assert taken.exit_code == 0, taken.output
        same, code = diff()
        assert same["notComparable"] == []
        return same["changes"] == [] and code == 0

    # Volcano goes on to write its root queue for a while after the queues of another test are gone.
    cluster.until("two looks are equal", settled)
    hold = {"spec": {"stopPolicy": "Hold"}}
    cluster.patch(*QUEUES, "chat.slices", hold)
    cluster.delete(*QUEUES, "search.slices")
    found, code = diff()
    assert code == 1
    assert [(it["what"], it["object"], it["path"]) for it in found["changes"]] == [
        ("changed", "ClusterQueue chat.slices", "spec.stopPolicy"),
        ("removed", "ClusterQueue search.slices", None),
    ]
    assert 'was "None" and is now "Hold"; written by ' in found["changes"][0]["message"]
    assert {"field-drifted", "object-missing", "queue-stopped"} <= {
        it["rule"] for it in found["findings"]["new"]
    }


VQUEUE = ("scheduling.volcano.sh/v1beta1", "Queue")


def test_a_tree_of_queues_is_fixed_without_a_refusal(cluster, lint):
    applied(cluster, "volcano-training")
    up, down = {"nvidia.com/gpu": "110"}, {"memory": "6000000Mi"}
    # Parents up before their children, children down before their parents: Volcano takes no other order.
    for name, change in (
        ("h100", {"deserved": {"nvidia.com/gpu": "150"}, "capability": {"nvidia.com/gpu": "150"}}),
        ("foundation.h100", {"deserved": up}),
        ("speech.h100", {"deserved": {"nvidia.com/gpu": "36", **down}}),
    ):
        path = cluster.client.resource(*VQUEUE).path(None, name)
        answer = kubectl.patch(
            cluster.client, path, json.dumps({"spec": change}), MERGE, {"fieldManager": "somebody"}
        )
        assert answer.ok, answer.message
    told, folder = lint("volcano-training")
    assert {it["object"] for it in told} >= {
        "Queue h100",
        "Queue foundation.h100",
        "Queue speech.h100",
    }
    assert kubectl.run(cluster.bench, folder / "mend.sh") == []
    assert lint("volcano-training")[0] == []


@pytest.mark.parametrize("story", STORIES)
def test_each_change_is_reported_with_its_author_and_the_patches_undo_it(cluster, lint, story):
    things = applied(cluster, story)
    count = iter(range(10_000))
    seen = []

    def scene(draw):
        expected = {}
        for thing in draw.sample(things, min(TOUCHED, len(things))):
            expected |= intrude(cluster, draw, thing, next(count))
        told, folder = lint(story)
        found = {(it["rule"], it["object"], it["path"]): it for it in told}
        assert set(found) == set(expected), [
            it["message"] for key, it in found.items() if key not in expected
        ]
        for key, (manager, gone, what) in expected.items():
            message = found[key]["message"]
            assert gone or manager in message, (what, message)
        refused = []
        for script in ("mend.sh", "recreate.sh", "take-over.sh", "delete.sh"):
            if (folder / script).exists():
                refused += kubectl.run(cluster.bench, folder / script)
        assert refused == []
        told, _ = lint(story)
        assert told == [], [(it["object"], it["path"], it["message"]) for it in told]
        return len(expected)

    @settings(
        max_examples=SCENES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 1 << 32))
    def scenes(seed):
        # Hypothesis does not draw the server's answers, so a failed scene cannot be run again.
        if not failed:
            try:
                seen.append(scene(Random(seed)))
            except Exception as error:  # noqa: BLE001 - it is raised below
                failed.append(error)
        if failed:
            raise failed[0]

    failed = []
    scenes()
    print(f"{story}: {sum(seen)} changes in {len(seen)} scenes")


def intrude(cluster, draw, thing, number):
    """Make one change to an object that the server accepts; returns the expected findings."""
    manager = f"mallory-{number}"
    before = live(cluster, thing)
    options = intrusions(before, number)
    for _ in range(TRIES):
        it = draw.choice(options)
        if not it.do(cluster.client, manager, before).ok:
            continue
        name = f"{thing['kind']} {_within(thing)}{it.copy}" if it.copy else named(thing)
        paths = [] if it.path is None else [it.path]
        if it.rule == "object-missing":
            cluster.until(f"{name} is gone", lambda: not _there(cluster, thing))
        elif it.rule == "field-drifted" and it.path[0] not in ELSEWHERE:
            after = live(cluster, thing)
            if ours(after) == ours(before):
                continue  # a default took its place
            paths = list(_shown(before, after, it.path))
        keys = [(it.rule, name, dotted(path)) for path in paths] or [(it.rule, name, None)]
        return dict.fromkeys(keys, (manager, it.gone, it.what))
    return {}


def _shown(before, after, path):
    """Where a change of a field shows: there, or above where what held it went with its last entry
    (Go writes no empty mappings), or below where defaults took its place."""
    was, now = before, after
    for length, step in enumerate(path, 1):
        if isinstance(now, str):
            break  # into a text that holds a file
        if now is None:
            yield path[: length - 1]  # as Go writes an empty list
            return
        if step not in now if isinstance(now, dict) else step >= len(now):
            yield path[:length]
            return
        was, now = was[step] if step in was or isinstance(was, list) else None, now[step]
    if isinstance(was, dict) and isinstance(now, dict) and isinstance(path[-1], str):
        yield from _below(was, now, path)
    else:
        yield path


def _below(was, now, path):
    for key in {*was, *now}:
        one, other = was.get(key), now.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _below(one, other, (*path, key))
        elif one != other:
            yield (*path, key)


def _within(thing):
    namespace = thing["metadata"].get("namespace")
    return f"{namespace}/" if namespace else ""


def _there(cluster, thing):
    metadata = thing["metadata"]
    path = cluster.client.resource(thing["apiVersion"], thing["kind"]).path(
        metadata.get("namespace"), metadata["name"]
    )
    return cluster.client.get(path).ok
