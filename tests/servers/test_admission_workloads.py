"""The workloads that policygen renders pass the admission policies, but not without one of their policy fields."""

import copy
import json
import re
from pathlib import Path

import yaml

from policygen.app.patch import patch
from policygen.app.requests import PatchRequest, RenderRequest
from policygen.app.workload import FORMS, workload
from policygen.core.errors import UsageError
from policygen.plan.model_names import MODEL
from tests.patch.foreign import COMMENTS, drawn
from tests.servers.rendering import rendered
from tests.servers.test_admission import DENIED, Door, created, filling, tried
from tests.servers.test_other_tools import install
from tests.servers.upstream import JOB_SET, LEADER_WORKER_SET

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ONE_BLOCK = re.MULTILINE | re.DOTALL
STORIES = ("kueue-team-tree", "ml-platform", "three-schedulers", "volcano-training")
"""Together, these have all forms of workloads and all schedulers."""
NEEDED = {
    "ConfigMap",
    "Namespace",
    "PriorityClass",
    "Queue",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
}
"""Queues of Kueue do not change what the door does, and take time to delete."""
OF_FORMS = {"CronJob", "Deployment", "Job", "JobSet", "LeaderWorkerSet", "StatefulSet"}
ONE_TEMPLATE = {"cronjob", "deployment", "job", "statefulset"}
LIMIT = "Limit must be set for non overcommitable resources"
"""The API server itself refuses this in pod templates of its own kinds."""
DOMAINS = ("kueue.x-k8s.io", "scheduling.k8s.io", "volcano.sh")
OF_PODS = ("limits", "priorityClassName", "schedulerName", "tolerations")


def head(thing):
    """What makes the metadata of a Job: the thing itself, or the template of a CronJob."""
    return thing["spec"]["jobTemplate"] if thing["kind"] == "CronJob" else thing


def templates(thing):
    spec = thing["spec"]
    match thing["kind"]:
        case "CronJob":
            return [spec["jobTemplate"]["spec"]["template"]]
        case "JobSet":
            return [it["template"]["spec"]["template"] for it in spec["replicatedJobs"]]
        case "LeaderWorkerSet":
            both = spec["leaderWorkerTemplate"]
            return [both[it] for it in ("leaderTemplate", "workerTemplate") if it in both]
        case "Job" if "tasks" in spec:
            return [it["template"] for it in spec["tasks"]]
    return [spec["template"]]


def policy_fields(thing):
    """The mappings of a workload in which the policy sets fields, each with the names of these fields."""
    pods = templates(thing)
    metadata = [head(thing).get("metadata", {}), *(it.get("metadata", {}) for it in pods)]
    marks = [metadata[0].get("labels", {}), *(it.get("annotations", {}) for it in metadata)]
    yield from ((it, [key for key in it if any(word in key for word in DOMAINS)]) for it in marks)
    for it in pods:
        spec = it["spec"]
        selector = spec.get("nodeSelector", {})
        resources = [container["resources"] for container in spec["containers"]]
        # A vcjob's scheduler replaces that of its pods.
        own = [key for key in OF_PODS if key != "schedulerName" or "tasks" not in thing["spec"]]
        yield from [(selector, list(selector)), (spec, own), *((each, own) for each in resources)]
    if "tasks" in thing["spec"]:
        # Without schedulerName and minAvailable, Volcano sets the values that the policy needs.
        yield thing["spec"], ["queue"]


def without_one(thing):
    """The workload without each of its policy fields, in all its pod templates, with the name of this field."""
    names = {key for fields, own in policy_fields(thing) for key in own if key in fields}
    for name in sorted(names):
        changed = copy.deepcopy(thing)
        for fields, own in policy_fields(changed):
            if name in own:
                fields.pop(name, None)
        yield name, changed


def workloads_of(story):
    """The models of an example in each form that they can have, with an image."""
    paths = sorted((EXAMPLES / story).glob("*.yaml"))
    documents = [it for path in paths for it in yaml.safe_load_all(path.read_text("utf-8"))]
    request = RenderRequest(tuple(map(str, paths)), {})
    for name in [it["metadata"]["name"] for it in documents if it["kind"] == "Model"]:
        for form in FORMS:
            try:
                text = workload(request, name, form).text
            except UsageError:
                continue  # this model cannot have this form
            for empty in ('image: ""', "image: []"):
                text = text.replace(empty, "image: a")
            found = (it for it in yaml.safe_load_all(text) if it["kind"] in OF_FORMS)
            yield form, next(found)


def test_a_rendered_workload_without_one_policy_field_is_denied(cluster, tools):
    install(cluster, tools, JOB_SET, LEADER_WORKER_SET)
    forms, tries, of_vcjobs = set(), 0, 0
    for story in STORIES:
        texts = [it.read_text("utf-8") for it in sorted((EXAMPLES / story).glob("*.yaml"))]
        door = Door(cluster)
        try:
            door.close(rendered("\n---\n".join(texts), "admission"), NEEDED)
            for form, thing in workloads_of(story):
                name = thing["metadata"]["name"]
                assert tried(cluster, thing) == "", (story, form, name)
                for field, changed in without_one(thing):
                    message = tried(cluster, changed)
                    expected = DENIED in message or (field == "limits" and LIMIT in message)
                    assert expected, (story, form, name, field, message)
                    tries += 1
                if thing["spec"].pop("priorityClassName", None):  # that of its pods stays
                    message = tried(cluster, thing)
                    assert "[priority] vcjob.spec priorityClassName" in message, (story, name)
                    of_vcjobs += 1
                forms.add(form)
        finally:
            door.open()
    assert forms == set(FORMS)
    assert tries > 100
    assert of_vcjobs > 1


def lacking(thing):
    """The workload with its label of the model and its GPUs, but without all other policy fields."""
    changed = copy.deepcopy(thing)
    for fields, own in policy_fields(changed):
        for name in own:
            if name != "limits":
                fields.pop(name, None)
    return changed


def test_all_policy_fields_of_a_workload_with_one_template_are_added(cluster):
    text = filling((EXAMPLES / "ml-platform" / "policy.yaml").read_text("utf-8"))
    found = [it for it in workloads_of("ml-platform") if it[0] in ONE_TEMPLATE]
    door = Door(cluster)
    try:
        needed = {*NEEDED, "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}
        door.fill(rendered(text, "admission"), lacking(found[0][1]), needed)
        for form, thing in found:
            bare = lacking(thing)
            assert tried(cluster, bare) == "", (form, bare)
            filled = policy_fields(created(cluster, bare))
            for (fields, _), (wanted, own) in zip(filled, policy_fields(thing), strict=True):
                assert {it: fields.get(it) for it in own} == {it: wanted.get(it) for it in own}
    finally:
        door.open()
    assert {form for form, _ in found} == ONE_TEMPLATE


PATCH = ROOT / "tests" / "patch" / "policy.yaml"


def data_of(text, name):
    return json.loads(text) if name.endswith("json") else yaml.safe_load(text)


def foreign(folder, count):
    """Drawn manifests of kinds that the server has: as written, with `policygen patch`, and both texts."""
    seeds, found = iter(range(500)), 0
    while found < count:
        name, text, data, _ = drawn(next(seeds))
        if data["kind"] in {*OF_FORMS, "Pod"}:
            (folder / name).write_bytes(text.encode())
            found += 1
    done = patch(PatchRequest((str(folder),), (str(PATCH),)))
    assert done.report.findings == ()
    for it in done.files:
        before = (folder / Path(it.source.name).name).read_bytes().decode()
        yield data_of(before, it.source.name), data_of(it.text, it.source.name), before, it.text


def test_foreign_manifests_pass_only_after_patch(cluster, tools, tmp_path):
    install(cluster, tools, JOB_SET, LEADER_WORKER_SET)
    door, denied, comments = Door(cluster), 0, 0
    try:
        door.close(rendered(PATCH.read_text("utf-8"), "admission"), NEEDED)
        for before, after, text, patched in foreign(tmp_path, 50):
            metadata = after["metadata"]
            before["metadata"]["namespace"] = metadata["namespace"]
            assert tried(cluster, after) == "", patched
            message = tried(cluster, before)
            # Without GPUs and label, only its name ties it to its model.
            if "nvidia.com/" in text or MODEL in text:
                assert DENIED in message, text
                denied += 1
            kept = [it for it in COMMENTS if f"# {it}" in text]
            assert all(f"# {it}" in patched for it in kept)
            comments += len(kept)
    finally:
        door.open()
    assert denied > 40
    assert comments > 20


def first_spec(page):
    """The first spec of a page."""
    text = page.read_text("utf-8")
    return re.search(r"^```yaml\n(apiVersion: policygen\.dev/.*?)^```$", text, ONE_BLOCK)[1]


def test_a_job_runs_as_printed_and_is_denied_without_its_queue_label(cluster, shell, tmp_path):
    """The way of an engineer with only README: its spec, its command, her image, `kubectl apply`."""
    spec = first_spec(ROOT / "README.md")
    out = rendered(spec, "admission")
    door = Door(cluster)
    try:
        door.close(out)
        for facts in out.pools.values():
            cluster.add_nodes(facts)
        (tmp_path / "policygen" / "spec").mkdir()
        (tmp_path / "policygen" / "spec" / "policy.yaml").write_text(spec, "utf-8")
        assert shell(
            "policygen workload segmenter spec/ --as job > job.yaml && kubectl apply -f job.yaml"
        )[1].endswith("spec.template.spec.containers[0].image: Required value\n")
        shell("sed -i 's,image: \"\",image: registry.example.com/segmenter:1.4,' job.yaml")
        shell("grep -v kueue.x-k8s.io/queue-name job.yaml > without-queue.yaml")
        code, message = shell("kubectl apply -f without-queue.yaml")
        assert code == 1
        assert message in (ROOT / "docs" / "admission.md").read_text("utf-8")
        with cluster.kube_scheduler(out.scheduler_config):
            assert shell("kubectl apply -f job.yaml") == (0, "job.batch/segmenter created\n")
            cluster.until("the Job runs", lambda: cluster.bound("vision"))
            assert cluster.admitted("vision") == ["segmenter"]
            # The label cannot be removed later either.
            assert shell("kubectl apply -f without-queue.yaml") == (1, message)
    finally:
        door.open()
