"""`policygen diff` of two specs."""

import json
from io import StringIO
from pathlib import Path

import jsonschema
import pytest

from policygen.app.adopt import AdoptRequest, adopt
from policygen.app.content import Content, content
from policygen.app.render import render, write
from policygen.app.requests import ClusterRequest, LintRequest, RenderRequest, ReviewRequest
from policygen.app.review import review
from policygen.client import snapshot_file as files
from policygen.core.errors import SpecError, UsageError
from policygen.kubernetes.snapshot import Gap
from policygen.lint.kinds import every
from policygen.plan.extras import OF_MODELS
from policygen.report import review as forms
from tests.client.looks import snapshot
from tests.documents.test_git_files import git

SPEC = """\
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: lab}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: a100}
spec:
  nodeSelector: {pool: a100}
  gpu: {product: NVIDIA-A100-SXM4-80GB, perNode: 8}
  capacity: {nodes: 8, nodeType: a2-ultragpu-8g}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: l4}
spec:
  nodeSelector: {pool: l4}
  gpu: {product: NVIDIA-L4, perNode: 8}
  capacity: {nodes: 2, nodeType: g2-standard-96}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: nlp}
spec:
  namespaces: [{name: nlp}]
  quotas:
  - {pool: a100, guarantee: 40, limit: 64}
  - {pool: l4, guarantee: 8}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: vision}
spec:
  namespaces: [{name: vision}]
  quotas:
  - {pool: a100, guarantee: 24}
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: chat}
spec:
  team: nlp
  resources: {gpus: 10}
  replicas: 4
  placement: {pools: [a100]}
"""
SHRINK = SPEC.replace("guarantee: 40", "guarantee: 32").replace("guarantee: 24", "guarantee: 32")


@pytest.fixture
def reviewed(tmp_path, monkeypatch):
    """The review of two texts."""
    monkeypatch.chdir(tmp_path)

    def run(old, new):
        (tmp_path / "old.yaml").write_text(old)
        (tmp_path / "new.yaml").write_text(new)
        return review(ReviewRequest("old.yaml", "new.yaml"))

    return run


def shown(made, form=forms.text):
    page = StringIO()
    form(made, page)
    return page.getvalue()


def test_teams_see_what_they_lose_and_win(reviewed):
    spec = SHRINK.replace("gpus: 10", "gpus: 8").replace("replicas: 4", "replicas: 5")
    before = spec.replace("guarantee: 32, limit", "guarantee: 40, limit").replace(
        "guarantee: 32}", "guarantee: 24}"
    )
    made = reviewed(before, spec)
    lines = shown(made).splitlines()
    assert lines[:5] == [
        "pool a100",
        "  team nlp     guaranteed 40 → 32 nvidia.com/gpu, may still reach 64",
        "  team vision  guaranteed 24 → 32 nvidia.com/gpu, may still reach 64",
        "models",
        "  chat  1 of 5 replicas now run on borrowed GPUs",
    ]
    assert "objects: 0 added, 0 removed, 2 changed" in lines
    assert "  ~ ClusterQueue nlp.a100" in [line.rstrip() for line in lines]
    assert any("serving-on-borrowed-gpus" in line for line in lines)


def test_lines_fit_a_terminal(reviewed):
    made, page = reviewed(SPEC, SHRINK), StringIO()
    forms.text(made, page, wide=50)
    lines = page.getvalue().splitlines()
    assert max(map(len, lines)) <= 50
    assert "".join(page.getvalue().split()) == "".join(shown(made).split())


def test_equal_specs_have_no_difference(reviewed):
    made = reviewed(SPEC, f"# a comment\n{SPEC}")
    assert not made.changed
    assert shown(made) == "no difference\n"
    assert shown(made, forms.markdown) == "## policygen diff: no difference\n"


def test_teams_pools_and_models_appear_and_disappear(reviewed):
    smaller = SPEC.replace("  - {pool: l4, guarantee: 8}\n", "").replace("nodes: 8", "nodes: 9")
    smaller = smaller[: smaller.index("---\napiVersion: policygen.dev/v1alpha1\nkind: Model")]
    there, back = shown(reviewed(SPEC, smaller)), shown(reviewed(smaller, SPEC))
    assert "64 → 72 nvidia.com/gpu for all teams" in there
    assert "team nlp  loses its quota: was guaranteed 8 nvidia.com/gpu, could reach 16" in there
    assert "  chat  removed\n" in there
    assert "  - ClusterQueue nlp.l4" in there
    assert "team nlp  new: guaranteed 8 nvidia.com/gpu, may reach 16" in back
    assert "  + ClusterQueue nlp.l4" in back


def test_a_model_that_moves_names_both_pools(reviewed):
    spec = SPEC.replace("gpus: 10", "gpus: 1").replace("replicas: 4", "replicas: 1")
    made = shown(reviewed(spec, spec.replace("pools: [a100]", "pools: [l4]")))
    assert made.startswith('models\n  chat  runs on pool "l4" instead of pool "a100"\n')


def test_a_replica_in_a_shared_queue_uses_the_guarantee_of_one_pool(reviewed):
    spec = (
        SPEC.replace(
            "{name: lab}\n", "{name: lab}\nspec:\n  sharedQueues: [{name: s, pools: [a100, l4]}]\n"
        )
        .replace("NVIDIA-L4", "NVIDIA-A100-SXM4-80GB")
        .replace("g2-standard-96", "a2-ultragpu-8g")
        .replace("gpus: 10", "gpus: 8")
        .replace("[a100]}", "[a100, l4]}")
    )
    models = [spec[spec.rindex("---") :].replace("chat", name) for name in ("a", "b")]
    old = spec[: spec.rindex("---")]
    full = old + models[0].replace("replicas: 4", "replicas: 1")
    full += models[1].replace("replicas: 4", "replicas: 5")
    lines = shown(reviewed(old, full)).splitlines()
    assert lines[1:3] == [f'  {it}  new: runs on shared queue "s"' for it in ("a", "b")]
    more = full.replace("replicas: 5", "replicas: 6")
    assert "  b  5 → 6 replicas; 1 of 6 replicas now run on borrowed GPUs" in shown(
        reviewed(full, more)
    )


def test_replicas_above_the_limit_are_not_called_borrowed(reviewed):
    spec = SPEC.replace("gpus: 10", "gpus: 8").replace("limit: 64", "limit: 48")
    lower = spec.replace("limit: 48", "limit: 40").replace("replicas: 4", "replicas: 6")
    made = shown(reviewed(spec, lower))
    above = "1 of 6 replicas are now above the limit of the team and never run"
    assert f"chat  4 → 6 replicas; {above}" in made
    assert "borrowed" not in made.partition("new warnings")[0]


def test_a_replica_that_takes_more_is_named(reviewed):
    eight = SPEC.replace("gpus: 10", "gpus: 8")
    made = shown(reviewed(eight, SPEC.replace("gpus: 10", "gpus: 4")))
    assert "a replica takes 4 nvidia.com/gpu instead of 8 nvidia.com/gpu" in made


def test_a_renamed_priority_names_its_models(reviewed):
    spec = SPEC.replace(
        "{name: lab}\n", "{name: lab}\nspec:\n  priorities: [{name: high, value: 9}]\n"
    ).replace("  resources:", "  priority: high\n  resources:")
    renamed = reviewed(spec, spec.replace("high", "urgent"))
    assert '  chat  its pods now have priority "urgent" instead of priority "high"' in shown(
        renamed
    )
    data = json.loads(shown(renamed, forms.json))
    jsonschema.validate(data, _schema())
    assert data["models"][0]["priority"] == ["high", "urgent"]
    removed = reviewed(spec, spec.replace("  priority: high\n", ""))
    assert 'chat  its pods now have no priority instead of priority "high"' in shown(removed)


def test_cpu_alone_is_shown_if_no_gpu_changes(reviewed):
    spec = SPEC.replace("nodeType: g2-standard-96}", "nodeAllocatable: {cpu: '90', memory: 300Gi}}")
    made = shown(reviewed(spec, spec.replace("cpu: '90'", "cpu: '88'")))
    assert "180 → 176 cores for all teams" in made


def test_gpus_that_move_without_cpu_and_freed_gpus_are_noted(reviewed):
    old = SPEC.replace(
        "guarantee: 40, limit: 64", "guarantee: 40, cpu: {guarantee: 400}, memory: {guarantee: 4Ti}"
    )
    made = reviewed(old, old.replace("guarantee: 40,", "guarantee: 32,"))
    assert shown(made).splitlines()[:3] == [
        "pool a100",
        "            0 → 8 nvidia.com/gpu guaranteed to no team; every team may use them up to its limit",
        (
            "  team nlp  guaranteed 40 → 32 nvidia.com/gpu, may still reach 64, still guaranteed 400 cores "
            "and 4Ti of memory"
        ),
    ]
    data = json.loads(shown(made, forms.json))
    jsonschema.validate(data, _schema())
    (pool,) = data["pools"]
    assert pool["unassigned"] == {"nvidia.com/gpu": ["0", "8"]}
    assert pool["quotas"][0]["unchanged"] == {"cpu": "400", "memory": "4Ti"}


def _schema():
    return json.loads((Path(__file__).parents[2] / "schemas" / "review.schema.json").read_text())


def test_json_is_as_its_schema_says(reviewed):
    schema = _schema()
    for old, new in ((SPEC, SHRINK), (SPEC, SPEC)):
        data = json.loads(shown(reviewed(old, new), forms.json))
        jsonschema.validate(data, schema)
    quota = data["pools"]
    assert quota == []
    (pool,) = json.loads(shown(reviewed(SPEC, SHRINK), forms.json))["pools"]
    assert [(it["team"], it["guarantee"]) for it in pool["quotas"]] == [
        ("nlp", ["40", "32"]),
        ("vision", ["24", "32"]),
    ]


def test_markdown_fits_a_comment(reviewed):
    made = shown(reviewed(SPEC, SHRINK), forms.markdown)
    assert made.startswith("## policygen diff: 1 pool and 2 objects change\n")
    assert "| team nlp | guaranteed 40 → 32 nvidia.com/gpu, may still reach 64 |" in made
    assert "<details><summary>objects: " in made


def test_an_invalid_side_is_refused(reviewed):
    for old, new in ((SPEC, "a: 1\n"), ("a: [\n", SPEC)):
        with pytest.raises(SpecError):
            reviewed(old, new)


HAND = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {pool: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: old}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: nlp}
spec: {clusterQueue: old}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: train, namespace: nlp}
spec: {queueName: a100}
status: {admission: {clusterQueue: old}}
"""


def of(old, new, **more):
    return review(ReviewRequest(str(old), str(new), **more))


def test_rendered_manifests_equal_their_spec(reviewed):
    reviewed(SPEC, SHRINK)
    request = RenderRequest(("old.yaml",), {})
    write(render(request), Path("manifests"))
    assert not of("manifests", "old.yaml").changed
    assert not of("old.yaml", "manifests").changed
    there, back = of("manifests", "new.yaml"), of("new.yaml", "manifests")
    assert shown(there).startswith(
        "pool a100\n  team nlp     guaranteed 40 → 32 nvidia.com/gpu, may still reach 64\n"
        "  team vision  guaranteed 24 → 32 nvidia.com/gpu, may still reach 64\nobjects:"
    )
    assert "guaranteed 32 → 40 nvidia.com/gpu" in shown(back)
    # The same objects change as between the two specs.
    specs = of("old.yaml", "new.yaml")
    assert [str(it.object) for it in there.objects] == [str(it.object) for it in specs.objects]
    assert [
        [(it.path, str(it.expected), str(it.found)) for it in each.fields] for each in there.objects
    ] == [
        [(it.path, str(it.expected), str(it.found)) for it in each.fields] for each in specs.objects
    ]


@pytest.mark.parametrize("example", ["three-schedulers", "volcano-training"])
def test_what_objects_do_not_show_is_no_difference(example, tmp_path):
    """Queues of Volcano show what a team deserves, and kube-scheduler shows no name of a pool."""
    spec = f"examples/{example}"
    write(render(RenderRequest((spec,), {})), tmp_path / "there")
    assert not of(tmp_path / "there", spec).changed
    assert not of(spec, tmp_path / "there").changed


def test_teams_of_volcano_have_the_numbers_of_their_queues(tmp_path):
    """Queues share what no guarantee uses, so speech deserved 25 before its guarantee rises to 24."""
    spec = Path("examples/volcano-training/policy.yaml")
    write(render(RenderRequest((str(spec),), {})), tmp_path / "there")
    new = tmp_path / "new.yaml"
    new.write_text(
        spec.read_text()
        .replace("guarantee: 64", "guarantee: 56")
        .replace("guarantee: 16", "guarantee: 24")
    )
    made = of(tmp_path / "there", new)
    (pool,) = made.consequences.pools
    deserved = {
        it.object.name.partition(".")[0]: (int(str(change.expected)), int(str(change.found)))
        for it in made.objects
        for change in it.fields
        if change.path[-2:] == ("deserved", "nvidia.com/gpu")
    }
    assert deserved["speech"] == (25, 30)
    assert deserved == {it.team: (it.guarantee.before, it.guarantee.after) for it in pool.quotas}


VOLCANO_BY_HAND = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: h100}
spec: {deserved: {nvidia.com/gpu: 32}, capability: {nvidia.com/gpu: 32}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: eval}
spec: {parent: h100, deserved: {nvidia.com/gpu: 8}, capability: {nvidia.com/gpu: 32}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: sim}
spec: {parent: h100, deserved: {nvidia.com/gpu: 16}, capability: {nvidia.com/gpu: 32}}
"""


def test_queues_of_volcano_by_hand_are_compared_with_rendered_queues(tmp_path):
    hand, spec = tmp_path / "hand.yaml", tmp_path / "spec.yaml"
    hand.write_text(VOLCANO_BY_HAND)
    adopted = adopt(AdoptRequest(LintRequest(manifests=(str(hand),))))
    spec.write_text(adopted.text.replace("guarantee: 8", "guarantee: 6"))
    lines = shown(of(hand, spec)).splitlines()
    assert lines[:4] == [
        "pool volcano",
        "  team eval  guaranteed 8 → 11 nvidia.com/gpu, may still reach 32",
        "  team sim   guaranteed 16 → 21 nvidia.com/gpu, may still reach 32",
        "apply order: 1 apply; then 3 deletions",
    ]
    assert lines[4].startswith("  last  delete Queue eval (now eval.volcano), Queue sim ")
    assert lines[5] == "objects: 4 added, 3 removed, 0 changed; 3 of them renamed"


def test_both_sides_read_what_an_unreclaimable_queue_deserves(tmp_path):
    hand, spec = tmp_path / "hand.yaml", tmp_path / "spec.yaml"
    hand.write_text(
        VOLCANO_BY_HAND.replace(
            "parent: h100, deserved: {nvidia.com/gpu: 8}",
            "parent: h100, reclaimable: false, guarantee: {resource: {nvidia.com/gpu: 4}}, deserved: {nvidia.com/gpu: 8}",
        )
    )
    adopted = adopt(AdoptRequest(LintRequest(manifests=(str(hand),))))
    spec.write_text(adopted.text.replace("guarantee: 8", "guarantee: 6"))
    before, after = of(hand, spec).consequences, of(spec, hand).consequences
    assert {(it.team, it.guarantee.before) for it in before.pools[0].quotas} >= {("eval", 8)}
    assert {(it.team, it.guarantee.after) for it in after.pools[0].quotas} >= {("eval", 8)}


def test_a_pool_of_kube_scheduler_has_one_name_on_both_sides(tmp_path):
    """Its objects do not show the name of the spec."""
    spec = Path("examples/three-schedulers/policy.yaml")
    write(render(RenderRequest((str(spec),), {})), tmp_path / "there")
    new = tmp_path / "new.yaml"
    new.write_text(spec.read_text().replace("limit: 30", "limit: 24"))
    assert shown(of(tmp_path / "there", new)).splitlines()[:5] == [
        "pool nvidia-gpu-cpu",
        "                       15 → 12 nvidia.com/gpu for all teams",
        "  team product-canary  may reach 15 → 12 nvidia.com/gpu",
        "  team product-live    may reach 15 → 12 nvidia.com/gpu",
        "objects: 0 added, 0 removed, 2 changed",
    ]


def test_hand_written_manifests_become_what_a_spec_renders(reviewed):
    reviewed(SPEC, SPEC)
    Path("hand.yaml").write_text(HAND)
    page = shown(of("hand.yaml", "old.yaml"))
    assert "note: hand.yaml: 2 objects without the labels of policygen" in page
    assert "  team old     renamed to nlp: was guaranteed 8 nvidia.com/gpu, could reach 8" in page
    assert "- ClusterQueue old  " in page
    assert "policygen did not render it, so it stays until you delete it" in page
    assert "      clusterQueue  " in page
    assert '"old" → "nlp.a100"' in page
    assert "managed-by" not in page
    assert not of("hand.yaml", "hand.yaml").changed


def test_a_snapshot_shows_who_uses_what_is_removed(reviewed, tmp_path):
    reviewed(SPEC, SPEC.replace("- {pool: l4, guarantee: 8}", ""))
    files.write(snapshot(HAND), tmp_path / "a.snapshot")
    page = shown(of("a.snapshot", "new.yaml"))
    assert "1 admitted workload (nlp/train) keeps running, and Kueue keeps the queue" in page
    beside = ClusterRequest(snapshots=(tmp_path / "a.snapshot",))
    made = of("old.yaml", "new.yaml", beside=beside)
    assert made.uses is not None
    assert of("old.yaml", "new.yaml").uses is None
    page = json.loads(shown(made, forms.json))
    jsonschema.validate(page, _schema())
    assert [it["object"] for it in page["objects"] if it["what"] == "removed"] != []


def test_redacted_names_are_not_compared(reviewed, tmp_path):
    reviewed(SPEC, SPEC)
    files.write(snapshot(HAND, redacted=True), tmp_path / "a.snapshot")
    with pytest.raises(UsageError, match="has redacted names"):
        of("a.snapshot", "new.yaml")


def test_kinds_that_were_not_read_are_named_and_not_compared(reviewed, tmp_path):
    reviewed(SPEC, SPEC)
    gap = Gap("kueue.x-k8s.io", "Cohort", "", "forbidden")
    read = frozenset(it for it in every() if it.kind != "Cohort")
    files.write(snapshot(HAND, read=read, gaps=(gap,)), tmp_path / "a.snapshot")
    made = of("a.snapshot", "new.yaml")
    assert made.unread == ("Cohort.kueue.x-k8s.io could not be read: forbidden",)
    assert "Cohort" not in {it.object.kind for it in made.objects}
    assert shown(made).startswith("note: a.snapshot: 2 objects")


@pytest.mark.usefixtures("reviewed")
def test_a_queue_by_hand_beside_a_set_does_not_hide_its_teams(tmp_path):
    """After the set is applied, a Queue of before deserves more than its pool has."""
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    spec = SPEC.replace("capacity: {nodes: 8", "scheduler: volcano\n  capacity: {nodes: 8")
    (tmp_path / "spec.yaml").write_text(spec)
    write(render(RenderRequest(("spec.yaml",), {})), Path("there"))
    deserved = {"nvidia.com/gpu": "400"}
    fields = {"parent": "a100", "deserved": deserved, "capability": deserved}
    legacy = {**queue, "metadata": {"name": "legacy"}, "spec": fields}
    Path("there/legacy.yaml").write_text(json.dumps(legacy))
    smaller = spec.replace("guarantee: 40", "guarantee: 32")
    (tmp_path / "new.yaml").write_text(smaller)
    page = shown(review(ReviewRequest("there", "new.yaml")))
    assert 'note: there: pools and teams are only those of the set "lab": Queue legacy' in page
    assert "team nlp     guaranteed 40 → 36 nvidia.com/gpu" in page
    assert "- Queue legacy" in page


def test_two_sets_show_no_pools(reviewed):
    reviewed(SPEC, SPEC)
    labels = "labels: {policygen.dev/set: %s}"
    two = HAND.replace("name: old}", f"name: old, {labels % 'a'}}}", 1).replace(
        "name: a100, namespace: nlp}", f"name: a100, namespace: nlp, {labels % 'b'}}}"
    )
    Path("hand.yaml").write_text(two)
    made = of("hand.yaml", "old.yaml")
    assert made.consequences.pools == ()
    assert 'because it has the sets "a" and "b"' in made.notes[0]


@pytest.mark.parametrize(
    "extra, removed", [("vpa", "VerticalPodAutoscaler"), ("workloads", "Deployment")]
)
def test_objects_of_a_removed_model_are_compared_as_far_as_requested(reviewed, extra, removed):
    spec = SPEC.replace("gpus: 10", "gpus: 1").replace(
        "  resources:", "  workload: serving\n  resources:"
    )
    reviewed(spec, spec[: spec.rindex("---")])
    write(render(RenderRequest(("old.yaml",), {}, extras=OF_MODELS)), Path("manifests"))
    made = of("manifests", "new.yaml", extras=frozenset({extra}))
    kinds = {it.object.kind for it in made.objects if it.what.value == "removed"}
    assert kinds & {"VerticalPodAutoscaler", "Deployment"} == {removed}


def test_objects_of_another_spec_are_a_note(reviewed):
    reviewed(SPEC, SPEC)
    write(render(RenderRequest(("old.yaml",), {})), Path("manifests"))
    labels = "{app.kubernetes.io/managed-by: policygen, policygen.dev/set: lab}"
    queue = (
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: %s, labels: %s}\n"
    )
    child = queue % ("render.l40s", labels) + "spec: {parent: l40s}\n"
    Path("manifests/other.yaml").write_text(f"{queue % ('l40s', labels)}---\n{child}")
    made = of("manifests", "new.yaml")
    assert made.notes[-1] == (
        "manifests: Queue l40s and Queue render.l40s are of no team of new.yaml, so they are probably those of "
        'another spec with the same name of its set ("lab"); write a Platform with another metadata.name in one of '
        "the specs"
    )
    assert (made.order.last, {it.foreign for it in made.objects}) == ((), {True})
    other = Path("manifests/other.yaml")
    other.write_text(other.read_text().replace("set: lab", "set: shared"))
    for sides in (("manifests", "old.yaml"), ("old.yaml", "manifests")):
        made = of(*sides)
        assert (made.objects, made.notes[-1]) == (
            (),
            'manifests: 2 objects of the set "shared" are not compared, because another spec renders this set',
        )


def test_a_renamed_set_is_one_note(reviewed):
    made = reviewed(SPEC, SPEC.replace("name: lab}", "name: research}"))
    assert made.notes == (
        'the set is renamed from "lab" to "research", so the label policygen.dev/set of every object changes',
    )
    assert {it.object.kind for it in made.objects if it.what.value == "changed"} == set()


def test_changes_that_are_not_committed_are_named(reviewed, tmp_path):
    reviewed(SPEC, SPEC)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "a")
    assert of("git:HEAD:old.yaml", "old.yaml").notes == ()
    Path("old.yaml").write_text(SHRINK)
    assert of("git:HEAD:old.yaml", "old.yaml").notes == (
        'old.yaml: changes that are not committed are compared, too: "old.yaml"',
    )
    assert of("git:HEAD:old.yaml", "new.yaml").notes == (
        'git:HEAD:old.yaml: changes that are not committed are not compared: "old.yaml"',
    )


def test_objects_of_models_are_compared_with_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("old.yaml").write_text(SPEC.replace("gpus: 10", "gpus: 4"))
    Path("new.yaml").write_text(SPEC.replace("gpus: 10", "gpus: 8"))
    assert "        the objects that run them are compared only with --with workloads\n" in shown(
        review(ReviewRequest("old.yaml", "new.yaml"))
    )
    text = shown(review(ReviewRequest("old.yaml", "new.yaml", extras=frozenset({"workloads"}))))
    assert "--with" not in text
    assert "~ Deployment nlp/chat" in text
    assert '"4" → "8"' in text


EVERY = ("workloads", "monitoring", "admission", "volcano-config")


def test_objects_of_options_are_compared_with_manifests_field_by_field(tmp_path, monkeypatch):
    """Without the options, they are named. The manifests are no spec, though admission policies name its labels."""
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(SPEC.replace("gpus: 10", "gpus: 8"))
    made = render(RenderRequest(("spec.yaml",), {}, frozenset(EVERY)))
    rendered = "---\n".join(it.text for it in made.manifests)
    assert content("m.yaml") is Content.SPEC  # it does not exist
    changes = {
        "failurePolicy: Fail": "failurePolicy: Ignore",
        "replicas: 4": "replicas: 3",
        "severity: warning": "severity: none",
    }
    for old, new in changes.items():
        assert old in rendered
        rendered = rendered.replace(old, new)
    Path("m.yaml").write_text(rendered)
    assert content("m.yaml") is Content.MANIFESTS
    (note,) = of("m.yaml", "spec.yaml").notes
    assert note.startswith("m.yaml: ")
    assert note.endswith("add --with admission --with monitoring --with workloads")
    made = review(ReviewRequest("m.yaml", "spec.yaml", extras=frozenset(EVERY)))
    assert made.notes == ()
    assert {it.object.kind: {str(f.path[-1]) for f in it.fields} for it in made.objects} == {
        "ValidatingAdmissionPolicy": {"failurePolicy"},
        "Deployment": {"replicas"},
        "PrometheusRule": {"severity"},
    }


def test_running_workloads_of_models_are_named_as_not_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(SPEC.replace("gpus: 10", "gpus: 8"))
    made = render(RenderRequest(("spec.yaml",), {}, frozenset(EVERY)))
    there = "---\n".join(it.text for it in made.manifests).replace("replicas: 4", "replicas: 3")
    files.write(snapshot(there), tmp_path / "a.snapshot")
    (note,) = of("a.snapshot", "spec.yaml").notes
    assert note.startswith("a.snapshot: ")
    assert "add --with admission" in note
    made = review(ReviewRequest("a.snapshot", "spec.yaml", extras=frozenset({"workloads"})))
    assert made.objects == ()
    assert made.notes[1].startswith("a.snapshot: of 1 workload of models, only labels")


def test_specs_that_differ_only_in_objects_of_an_option_name_it(reviewed):
    spec = SPEC.replace("gpus: 10", "gpus: 8")
    made = reviewed(spec, f"{spec}  container: {{image: x}}\n")
    assert (made.objects, made.notes) == (
        (),
        (
            "objects that render prints only with an option differ; to compare them, add --with workloads",
        ),
    )


def test_what_changes_only_borrowing_changes_no_object_of_a_model(reviewed):
    assert "--with" not in shown(reviewed(SPEC, SHRINK))


@pytest.mark.parametrize(
    "pack, domain, gained",
    [
        ("true", "node", "each replica now needs its own node"),
        (
            "false",
            "node",
            "replicas are now spread over nodes, but may share one if others are full",
        ),
        (
            "false",
            "zone",
            "replicas are now spread over zones, but may share one if others are full",
        ),
    ],
)
def test_a_model_names_what_separates_its_replicas(reviewed, pack, domain, gained):
    policy = f"  schedulingPolicy: {{binPack: {pack}, spread: {'true' if pack == 'false' else 'false'}}}\n"
    together = SPEC.replace("gpus: 10", "gpus: 8").replace(
        "  nodeSelector: {pool: a100}\n", f"  nodeSelector: {{pool: a100}}\n{policy}"
    )
    assert policy in together
    apart = together.replace(
        "  placement:", f"  availability: {{failureDomain: {domain}}}\n  placement:"
    )
    made = reviewed(together, apart)
    assert shown(made).startswith(f"models\n  chat  {gained}\n")
    assert "chat  replicas may now share a node" in shown(reviewed(apart, together))
    jsonschema.validate(json.loads(shown(made, forms.json)), _schema())


@pytest.mark.parametrize(
    "options, message",
    [
        (
            {"extras": frozenset({"workloads"})},
            "--with is about a spec, but neither side is a spec",
        ),
        ({"cluster": "east"}, "--cluster is about a spec, but neither side is a spec"),
    ],
)
def test_options_for_specs_are_refused_between_manifests(tmp_path, options, message):
    path = tmp_path / "queue.yaml"
    path.write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n")
    with pytest.raises(UsageError, match=message):
        review(ReviewRequest(str(path), str(path), **options))


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
def test_a_renamed_team_with_another_guarantee_is_paired_by_its_namespaces(reviewed, scheduler):
    spec = SPEC.replace(
        "  capacity: {nodes: 8,", f"  scheduler: {scheduler}\n  capacity: {{nodes: 8,"
    )
    made = reviewed(
        spec,
        spec.replace("{name: vision}\nspec", "{name: images}\nspec").replace(
            "{pool: a100, guarantee: 24}", "{pool: a100, guarantee: 20}"
        ),
    )
    lines = [it.split(maxsplit=2) for it in shown(made).splitlines() if it.startswith("  team")]
    assert lines == [
        ["team", "images", "renamed from vision: guaranteed 20 nvidia.com/gpu, may reach 64"],
        ["team", "vision", "renamed to images: was guaranteed 24 nvidia.com/gpu, could reach 64"],
    ]
    kind = "ClusterQueue" if scheduler == "kueue" else "Queue"
    assert f"delete {kind} vision.a100 (now images.a100)" in shown(made)
    names = {it.object.name: it.other_names for it in made.objects if it.object.kind == kind}
    assert names["images.a100"] == ("vision.a100",)
    assert names["vision.a100"] == ("images.a100",)
    (added,) = (it for it in made.objects if it.object.name == "images.a100")
    assert added.fields
    page = json.loads(shown(made, forms.json))
    jsonschema.validate(page, _schema())
    assert [it["otherName"] for it in page["pools"][0]["quotas"]] == ["vision", "images"]


KUEUE = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
"""
WITH_KUEUE = SPEC.replace(
    "{name: lab}\n", "{name: lab}\nspec: {kueue: {configuration: kueue.yaml}}\n"
)


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """The review of two folders, each with a spec and the Configuration of Kueue that it names."""
    monkeypatch.chdir(tmp_path)

    def run(old, new, *extras, spec=WITH_KUEUE, before=WITH_KUEUE):
        for name, text, kueue in (("old", before, old), ("new", spec, new)):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "spec.yaml").write_text(text)
            (tmp_path / name / "kueue.yaml").write_text(kueue)
        # The sources of the files are the spec and the file that it names.
        request = ReviewRequest("old/spec.yaml", "new/spec.yaml", extras=frozenset(extras))
        return review(request)

    return run


def test_a_change_of_weights_turns_on_fair_sharing(reviewed):
    weighted = SPEC.replace("guarantee: 24}", "guarantee: 24, weight: 2}")
    made = reviewed(SPEC, weighted)
    lines = shown(made).splitlines()
    at = lines.index("Configuration of Kueue")
    divides = "fairSharing  off → on: Kueue divides idle quota by the weights of teams"
    assert lines[at + 1] == f"  {divides}"
    assert "restart Kueue, which reads this file only when it starts" in lines[at + 2]
    assert "compared only with --with kueue-config" in lines[at + 3]
    assert at < lines.index("objects: 0 added, 0 removed, 1 changed")
    back = shown(reviewed(weighted, SPEC))
    assert "on → off: Kueue ignores the weights of teams" in back
    data = json.loads(shown(made, forms.json))
    jsonschema.validate(data, _schema())
    assert data["kueueConfiguration"] == [
        {
            "field": "fairSharing",
            "before": False,
            "after": True,
            "effect": "Kueue divides idle quota by the weights of teams",
        }
    ]
    assert "1 setting of Kueue" in shown(made, forms.markdown).splitlines()[0]


JOBS = "integrations: {frameworks: [batch/job]}"
IGNORES = "Kueue ignores queue labels of these kinds, so they run beside all quotas"
COUNTS = "Kueue counts other amounts for the same requests"
SUSPENDS = "manageJobsWithoutQueueName: true"


@pytest.mark.parametrize(
    "old, new, line",
    [
        (
            "manageJobsWithoutQueueName: false",
            SUSPENDS,
            "manageJobsWithoutQueueName off → on: Kueue suspends jobs that name no queue",
        ),
        (
            SUSPENDS,
            JOBS,
            "manageJobsWithoutQueueName on → not set: jobs that name no queue run beside all quotas",
        ),
        (
            JOBS,
            "integrations: {frameworks: [ray.io/rayjob, batch/job, pod]}",
            "integrations.frameworks now also ray.io/rayjob and pod: Kueue queues these kinds",
        ),
        (
            "integrations: {frameworks: [batch/job, ray.io/rayjob]}",
            JOBS,
            f"integrations.frameworks no longer ray.io/rayjob: {IGNORES}",
        ),
        (
            "waitForPodsReady: {timeout: 30m}",
            "waitForPodsReady: {timeout: 10m}",
            'waitForPodsReady.timeout "30m" → "10m"',
        ),
        (
            JOBS,
            "resources: {excludeResourcePrefixes: [cpu]}",
            f'resources not set → {{"excludeResourcePrefixes": ["cpu"]}}: {COUNTS}',
        ),
        (
            "featureGates: {TopologyAwareScheduling: true, ElasticJobsViaWorkloadSlices: true}",
            "featureGates: {TopologyAwareScheduling: false, ElasticJobsViaWorkloadSlices: true}",
            "featureGates.TopologyAwareScheduling on → off",
        ),
    ],
)
def test_a_changed_setting_of_kueue_is_a_consequence(configured, old, new, line):
    before, after = (f"{KUEUE}{it}\n" for it in (old, new))
    made = configured(before, after, "kueue-config")
    lines = shown(made).splitlines()
    section = lines[: lines.index("objects: 0 added, 0 removed, 1 changed")]
    assert line in [" ".join(it.split()) for it in section]
    assert "compared only with" not in shown(made)
    # Without the option, the file is no object that is compared, but what it does is the same.
    assert configured(before, after).consequences == made.consequences
    assert shown(configured(after, f"# a comment\n{after}")) == "no difference\n"


def test_only_one_spec_can_name_a_configuration_of_kueue(configured):
    """The one that adds it."""
    made = configured(KUEUE, KUEUE, "kueue-config", before=SPEC)
    page = shown(made)
    assert "note: old/spec.yaml: the Platform names no Configuration of Kueue" in page
    assert "  + ConfigMap kueue-system/kueue-manager-config" in page
    # What the specs need from Kueue is the same.
    assert made.consequences.kueue == ()
    with pytest.raises(UsageError, match="needs the current Configuration of your Kueue"):
        configured(KUEUE, KUEUE, "kueue-config", before=SPEC, spec=SPEC)


def test_a_configuration_of_kueue_that_cannot_be_read_is_noted(configured):
    made = configured(KUEUE, "kind: Configuration\napiVersion: other/v1\n")
    [note] = [it for it in made.notes if "Kueue" in it]
    assert note.startswith("new/spec.yaml: its Configuration of Kueue is not compared: ")
    assert made.consequences.kueue == ()
    with pytest.raises(SpecError):
        configured(KUEUE, "kind: Configuration\napiVersion: other/v1\n", "kueue-config")


def test_the_configuration_of_a_git_revision_is_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "spec.yaml").write_text(WITH_KUEUE)
    (tmp_path / "spec" / "kueue.yaml").write_text(KUEUE)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    (tmp_path / "spec" / "kueue.yaml").write_text(KUEUE + SUSPENDS)
    page = shown(review(ReviewRequest("git:HEAD:spec", "spec")))
    assert "Kueue suspends jobs that name no queue" in page


def test_manifests_with_a_configuration_of_kueue_show_what_changes(configured, tmp_path):
    configured(KUEUE, KUEUE)
    (tmp_path / "hand.yaml").write_text(KUEUE + SUSPENDS)
    extras = frozenset({"kueue-config"})
    made = review(ReviewRequest("hand.yaml", "new/spec.yaml", extras=extras))
    [change] = [it for it in made.consequences.kueue if it.field == "manageJobsWithoutQueueName"]
    assert (change.before, change.after) == (True, None)
    # Without the option, the spec renders no Configuration.
    assert review(ReviewRequest("hand.yaml", "new/spec.yaml")).consequences.kueue == ()
