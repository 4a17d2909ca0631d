"""Manifests of users get the fields of their models; everything else in them stays."""

import io
import json
from collections import Counter
from copy import deepcopy
from datetime import date
from pathlib import Path
from random import Random

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.app import explain_name, lint
from policygen.app import patch as app_patch
from policygen.app.requests import LintRequest, PatchRequest, RenderRequest
from policygen.core.errors import UsageError
from policygen.core.finding import at_path
from policygen.core.rule import Severity
from policygen.documents.edit.comments import comments
from policygen.patch.additions import operations
from policygen.plan.catalog import KINDS
from policygen.plan.compile import released
from policygen.plan.extras import WORKLOADS
from policygen.plan.model_names import MODEL
from policygen.plan.workload import forms, objects
from policygen.render import engine, output
from tests.drift.jsonpatch import applied
from tests.patch.foreign import BODIES, Layout, drawn

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "tests" / "patch" / "policy.yaml"
SEEDS = range(60)
QUEUE = "kueue.x-k8s.io/queue-name"


def patched(text, **options):
    """What patch makes of a text on standard input."""
    request = PatchRequest(("-",), (str(POLICY),), **options)
    return app_patch.patch(request, stdin=io.BytesIO(text.encode()))


def text_of(text, **options):
    """The patched text; fails if something is refused."""
    done = patched(text, **options)
    assert done.report.findings == ()
    return done.files[0].text


def messages(text, **options):
    """Why a text is not patched, with the lines."""
    done = patched(text, **options)
    assert done.files[0].text == text
    assert done.patches == ()
    return [(it.place.line, it.message) for it in done.report.findings]


def parsed(text):
    """One document; PyYAML reads no JSON with tabs."""
    return json.loads(text) if text.startswith("{") else yaml.safe_load(text)


def kept(old, new):
    """Whether everything that has a value in the old data is in the new data."""
    if isinstance(old, dict):
        return all(not it or (key in new and kept(it, new[key])) for key, it in old.items())
    if isinstance(old, list):
        return len(old) <= len(new) and all(map(kept, old, new))
    return type(old) is type(new) and old == new


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A folder with the drawn manifests, and what patch makes of it."""
    folder = tmp_path_factory.mktemp("foreign")
    for seed in SEEDS:
        name, text, _, _ = drawn(seed)
        (folder / name).write_bytes(text.encode())
    return folder, app_patch.patch(PatchRequest((str(folder),), (str(POLICY),)))


def test_foreign_manifests_keep_comments_and_values(many):
    _, done = many
    assert done.report.findings == ()
    assert len(done.changed) == len(done.patches) == len(SEEDS)
    for seed, file, patch in zip(SEEDS, done.files, done.patches, strict=True):
        _, text, data, _ = drawn(seed)
        assert file.source.text == text
        assert Counter(comments(file.text)) == Counter(comments(text)), file.text
        found = parsed(file.text)
        assert kept(data, found)
        assert found == applied(data, operations(patch.added))


def test_every_kind_is_drawn():
    assert {drawn(seed)[2]["kind"] for seed in SEEDS} == {
        it.removeprefix("Volcano") for it in BODIES
    }


def test_patched_manifests_have_no_finding_of_lint_and_need_no_patch(many, tmp_path):
    folder, done = many

    def grave(manifests):
        request = LintRequest((str(POLICY),), (str(manifests),))
        found = lint.lint(request, today=date(2026, 11, 23)).findings
        return [it for it in found if it.severity >= Severity.WARNING]

    assert {it.rule.name for it in grave(folder)} == {"workload-differs-from-model"}
    for it in done.files:
        (tmp_path / Path(it.source.name).name).write_bytes(it.text.encode())
    assert grave(tmp_path) == []
    again = app_patch.patch(PatchRequest((str(tmp_path),), (str(POLICY),)))
    assert (again.changed, again.report.findings) == ((), ())


@settings(max_examples=25, deadline=None)
@given(st.integers(min_value=100))
def test_any_manifest_gets_exactly_its_patch(seed):
    _, text, data, _ = drawn(seed)
    done = patched(text)
    assert done.report.findings == (), text
    new = done.files[0].text
    assert parsed(new) == applied(data, operations(done.patches[0].added)), text
    assert kept(data, parsed(new))
    assert Counter(comments(new)) == Counter(comments(text)), text
    assert ("\r\n" in text) == ("\r\n" in new)
    assert patched(new).changed == ()


JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: plain
  namespace: vision
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: trainer
"""
PATCHED = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: plain
  namespace: vision
  labels:
    policygen.dev/model: plain
    kueue.x-k8s.io/queue-name: a100
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: trainer
          resources:
            limits:
              nvidia.com/gpu: "1"
              cpu: 11800m
              memory: 163Gi
            requests:
              nvidia.com/gpu: "1"
              cpu: 11800m
              memory: 163Gi
      schedulerName: platform.binpack
    metadata:
      labels:
        policygen.dev/model: plain
"""


def test_a_job_gets_queue_scheduler_and_gpus():
    assert text_of(JOB) == PATCHED
    assert text_of(PATCHED) == PATCHED


def test_each_document_gets_its_fields_and_others_stay():
    service = "# a service\napiVersion: v1\nkind: Service\nmetadata: {name: plain}\n"
    small = JOB.replace("name: plain", "name: cache")  # requests no GPU, and names no model
    text = "---\n".join([service, JOB, small, JOB.replace("plain", "queued")])
    parts = text_of(text).split("---\n")
    assert parts[:3] == [service, PATCHED, small]
    assert "kueue.x-k8s.io/priority-class: usual\n" in parts[3]


def test_the_option_names_the_model_of_others_and_the_label_keeps_it():
    text = JOB.replace("name: plain", "generateName: run-")
    new = text_of(text, model="plain")
    assert (
        "\n  labels:\n    policygen.dev/model: plain\n    kueue.x-k8s.io/queue-name: a100\n" in new
    )
    assert text_of(new) == new
    assert text_of(JOB, model="queued") == PATCHED, "a name counts before the option"
    with pytest.raises(UsageError, match='model "plane" does not exist; did you mean "plain"'):
        patched(JOB, model="plane")


@pytest.mark.parametrize(
    ("resources", "limits", "requests"),
    [
        (
            "{requests: {cpu: 4, memory: 8Gi}}",
            {"nvidia.com/gpu": "1", "memory": "8Gi"},
            {"cpu": 4, "memory": "8Gi", "nvidia.com/gpu": "1"},
        ),
        (
            "{limits: {cpu: 4, nvidia.com/gpu: 1}, requests: {cpu: 2}}",
            {"cpu": 4, "nvidia.com/gpu": 1, "memory": "163Gi"},
            {"cpu": 2, "memory": "163Gi"},
        ),
    ],
)
def test_amounts_of_the_author_stay_and_a_missing_half_is_equal_but_that_of_cpu(
    resources, limits, requests
):
    new = parsed(text_of(changed("trainer\n", f"trainer\n          resources: {resources}\n")))
    (container,) = new["spec"]["template"]["spec"]["containers"]
    assert container["resources"] == {"limits": limits, "requests": requests}


def test_a_share_of_the_node_is_only_for_a_container_without_others():
    gpu = "trainer\n          resources: {limits: {nvidia.com/gpu: 1}}\n"
    new = text_of(changed("trainer\n", gpu) + "        - {name: log, image: log}\n")
    first, second = parsed(new)["spec"]["template"]["spec"]["containers"]
    assert first["resources"] == {"limits": {"nvidia.com/gpu": 1}}
    assert "resources" not in second


def test_a_gang_gets_its_number_of_pods():
    spec = parsed(text_of(gang("")))["spec"]
    assert (spec["parallelism"], spec["completions"]) == (4, 4)
    spec = parsed(text_of(gang("  completions: 8\n")))["spec"]
    assert (spec["parallelism"], spec["completions"]) == (4, 8)
    spec = parsed(text_of(gang("  parallelism: 4\n")))["spec"]
    assert (spec["completions"], spec["completionMode"]) == (4, "Indexed")
    scaled = gang("", "gang-pods", "apps/v1\nkind: StatefulSet")
    assert parsed(text_of(scaled))["spec"]["replicas"] == 4


def test_tolerations_of_own_pools_and_of_unknown_taints_stay():
    own = "[{key: gpu, value: h100}, {key: spot, operator: Exists}]"
    assert own in text_of(changed(POD_SPEC, f"{POD_SPEC}      tolerations: {own}\n"))


def test_labels_of_no_pool_are_unknown():
    known = changed(POD_SPEC, f"{POD_SPEC}      nodeSelector: {{disk: ssd, pool: a100}}\n")
    assert "nodeSelector: {disk: ssd, pool: a100}\n" in text_of(known)
    affinity = AFFINITY.replace("slices", "a100")
    assert text_of(changed(POD_SPEC, f"{POD_SPEC}      affinity: {affinity}\n"))


def test_uses_of_an_anchor_change_together_or_not_at_all():
    tasks = """\
    - name: a
      replicas: 2
      template: &pod
        spec:
          containers:
            - {name: main, image: x, resources: {limits: {nvidia.com/gpu: 1}}}
    - {name: b, replicas: 2, template: *pod}
"""
    head = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: gang-vcjob}\nspec:\n  tasks:\n"
    new = text_of(head + tasks)
    assert new.count("*pod") == new.count("nodeSelector:") == 1
    assert {
        it["template"]["spec"]["nodeSelector"]["pool"] for it in parsed(new)["spec"]["tasks"]
    } == {"h100"}
    shared = head.replace("gang-vcjob}", "other, annotations: &a {x: y}, labels: *a}")
    ((line, message),) = messages(shared + tasks, model="gang-vcjob")
    assert line == 3
    assert "a YAML alias or merge uses this value in another place too" in message
    assert 'metadata.labels["policygen.dev/model"]: "gang-vcjob"' in message


def changed(old, new, text=JOB):
    assert old in text
    return text.replace(old, new, 1)


POD_SPEC = "      restartPolicy: Never\n"
AFFINITY = json.dumps({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["h100", "slices"]}]}
]}}})  # fmt: skip
CRON = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: plain, namespace: vision}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: x}]}}}}
"""
TWO_TASKS = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: gang-vcjob, namespace: vision}
spec:
  tasks:
  - {name: a, replicas: 2, template: {spec: {containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
  - {name: b, template: {spec: {containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
"""


def gang(numbers, model="gang-job", kind="batch/v1\nkind: Job"):
    """An object of a gang of four pods, with some numbers of pods."""
    text = JOB.replace("plain", model).replace("batch/v1\nkind: Job", kind)
    return changed("spec:\n", f"spec:\n{numbers}", text)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            changed("vision\n", f"vision\n  labels: {{{QUEUE}: other}}\n"),
            6,
            f'metadata.labels["{QUEUE}"] is "other", but pods of model "plain" need "a100"; write "a100"',
        ),
        (
            changed("vision\n", f"vision\n  annotations:\n    {QUEUE}: other\n"),
            7,
            f'metadata.annotations["{QUEUE}"] is "other", but pods of model "plain" need a100; remove',
        ),
        (
            changed("vision\n", "vision\n  labels: {kueue.x-k8s.io/priority-class: usual}\n"),
            6,
            'is "usual", but model "plain" has no priority; remove the field',
        ),
        (
            changed(POD_SPEC, f"{POD_SPEC}      schedulerName: volcano\n"),
            10,
            'spec.template.spec.schedulerName is "volcano", but pods of model "plain" need "platform.binpack"',
        ),
        (
            changed(POD_SPEC, f"{POD_SPEC}      nodeName: gpu-1\n"),
            10,
            'nodeName is "gpu-1", but then no scheduler places the pod; remove the field',
        ),
        (
            changed("vision\n", "vision\n  annotations: {scheduling.volcano.sh/queue-name: x}\n"),
            6,
            'but pool "a100" has scheduler: kueue; remove the field',
        ),
        (
            changed("trainer\n", "trainer\n          resources: {limits: {nvidia.com/gpu: 2}}\n"),
            13,
            'limits["nvidia.com/gpu"] is 2, but pods of model "plain" need "1"; write "1", or remove',
        ),
        (
            changed("trainer\n", "trainer\n          resources: {limits: {amd.com/gpu: 2}}\n"),
            13,
            "the container requests amd.com/gpu, but the pool of the model has nvidia.com/gpu; write nvidia.com/gpu: 1",
        ),
        (
            changed("image: trainer\n", "image: a\n        - name: log\n"),
            10,
            'the pod has the containers "main", "log", but no container requests GPUs; write limits with nvidia.com/gpu only',
        ),
        (changed("namespace: vision", "namespace: serving\n  labels: {policygen.dev/model: plain}"), 5, 'metadata.namespace is "serving"'),
        (changed("namespace: vision", "labels: {policygen.dev/model: plane}"), 5, 'model "plane" does not exist; did you mean "plain"'),
        (changed("trainer\n", "trainer\n          resources: {limits: {nvidia.com/gpu: 1}}\n", JOB.replace("name: plain", "generateName: run-")), 4, "a generated name does not name the model; write the label policygen.dev/model"),
        (changed("trainer\n", "trainer\n          resources: {limits: {nvidia.com/gpu: 1}}\n", JOB.replace("name: plain", "name: other")), 4, 'the spec has no model "other" in namespace vision; write the label'),
        (changed("name: plain", 'name: plain\n  labels: {team: "{{ .Values.team }}"}'), 5, '"{{ .Values.team }}" is a placeholder of a template; render the template'),
        (changed("trainer\n", "trainer\n          resources: {limits: {nvidia.com/gpu: 1}}\n", JOB.replace("name: plain", "name: ${NAME}")), 4, '"${NAME}" is a placeholder of a template; replace the variables'),
        (changed("namespace: vision", "namespace: ${NAMESPACE}\n  labels: {policygen.dev/model: plain}"), 5, '"${NAMESPACE}" is a placeholder of a template; replace the variables, for example with `envsubst`'),
        (changed(POD_SPEC, f"{POD_SPEC}      $patch: merge\n"), 10, "$patch is a directive of kustomize, so this is not a complete object"),
        (changed("      containers:\n        - name: main\n          image: trainer\n", ""), 7, "spec.template.spec.containers is not a list of containers, so this is not a complete object"),
        (changed("metadata:", "metadata: &m", changed("spec:\n", "spec:\n  x: *m\n")), 3, "a YAML alias or merge uses this value in another place too"),
        (changed("batch/v1\nkind: Job", "apps/v1\nkind: DaemonSet"), 2, "a DaemonSet runs a pod on every node, so it runs no model; write a Deployment or a Job"),
        (changed("batch/v1\nkind: Job", "apps/v1\nkind: Deployment", JOB.replace("plain", "nightly")), 2, 'model "nightly" cannot run as Deployment of apps/v1: its workload is batch, and the pods of this kind are restarted when they end; run it as'),
        (changed("batch/v1\nkind: Job", "apps/v1\nkind: ReplicaSet", JOB.replace("plain", "nightly")), 2, "its workload is batch"),
        (changed(POD_SPEC, f"{POD_SPEC}      tolerations: [{{key: x}}, {{operator: Exists}}]\n"), 10, "tolerations[1] tolerates taints gpu=slices:NoSchedule and shared:NoExecute of pools in which its team has no share; remove the toleration"),
        (CRON, 2, 'model "plain" cannot run as CronJob of batch/v1: its workload is serving, and its pods do not end, so it has no schedule; run it as deployment'),
        (CRON.replace("plain", "gang-job").replace('  schedule: "0 3 * * *"\n', ""), 4, 'the CronJob and model "gang-job" have no schedule; write spec.schedule in one of them'),
        (JOB[: JOB.index("spec:")], 1, "this Job has no pod template"),
        (
            changed(POD_SPEC, f"{POD_SPEC}      nodeSelector: {{disk: ssd, pool: h100}}\n"),
            10,
            'spec.template.spec.nodeSelector.pool is "h100", but the model runs on pool "a100"; write a100, or remove the field',
        ),
        (changed(POD_SPEC, f"{POD_SPEC}      nodeSelector: {{pool: a100}}\n", JOB.replace("plain", "single")), 10, 'nodeSelector.pool is "a100", but pods of model "single" need "h100"; write "h100"'),
        (changed(POD_SPEC, f"{POD_SPEC}      affinity: {AFFINITY}\n"), 10, 'the required node affinity excludes all nodes of pool "a100"; remove the expressions that exclude them'),
        (gang("  parallelism: 2\n"), 7, 'spec.parallelism is 2, but pods of model "gang-job" need 4; write 4'),
        (gang("  parallelism: 4\n  completions: 3\n"), 8, 'spec.completions is 3, but pods of model "gang-job" need 4; write 4'),
        (gang("  replicas: 3\n", "gang-pods", "apps/v1\nkind: StatefulSet"), 7, 'spec.replicas is 3, but pods of model "gang-pods" need 4'),
        (TWO_TASKS, 6, 'the object has 3 pods with GPUs, but the gang of model "gang-vcjob" has 4; change the number of pods'),
        (JOB.replace("plain", "gang-vcjob"), 2, 'model "gang-vcjob" cannot run as Job of batch/v1: its gang has runAs: vcjob, which decides who creates the PodGroup; run it as vcjob'),
    ],
)  # fmt: skip
def test_what_contradicts_is_named_and_the_file_is_unchanged(text, line, words):
    (first, *_) = found = messages(text)
    assert first[0] == line
    assert words in first[1], found
    assert " is not patched: " in first[1]


def test_text_that_is_no_yaml_is_named():
    helm = changed("vision\n", "{{ .Release.Namespace }}\n")
    done = patched(helm)
    assert (done.changed, done.patches) == ((), ())
    ((finding,)) = done.unreadable
    assert (finding.place.line, finding.message) == (
        5,
        "this is a template of a Helm chart; use the output of `helm template`",
    )


def test_a_refused_object_stays_and_the_others_of_its_file_are_patched(tmp_path):
    good, both = tmp_path / "good.yaml", tmp_path / "two.yaml"
    foreign = changed(POD_SPEC, f"{POD_SPEC}      nodeName: x\n")
    good.write_text(JOB)
    both.write_text(f"{foreign}---\n{JOB}---\n{foreign}")
    done = app_patch.patch(PatchRequest((str(tmp_path),), (str(POLICY),)))
    app_patch.write(done)
    assert (good.read_text(), both.read_text()) == (
        PATCHED,
        f"{foreign}---\n{PATCHED}---\n{foreign}",
    )
    assert [(it.place.line, it.object) for it in done.refused] == [
        (10, "Job vision/plain"),
        (37, "Job vision/plain"),
    ]
    assert (
        app_patch.summary(done, done=True)
        == "patched 2 objects in 2 files; 2 objects cannot be patched"
    )


def test_an_object_that_shares_an_alias_with_a_refused_one_stays():
    items = [JOB, changed(POD_SPEC, f"{POD_SPEC}      nodeName: x\n")]
    data = [*map(yaml.safe_load, items)]
    data[1]["metadata"] = data[0]["metadata"]
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": data}, sort_keys=False)
    assert "*id001" in text
    first, second = messages(text)
    assert "nodeName" in first[1] + second[1]
    assert "a YAML alias or merge uses this value in another place too" in first[1] + second[1]


EXAMPLES = sorted(
    {
        it.parent.name
        for it in (ROOT / "examples").glob("*/*.yaml")
        if "kind: Model" in it.read_text()
    }
)


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_workload_prints_needs_no_patch(example, tmp_path):
    """In every form that each model can have."""
    folder = ROOT / "examples" / example
    request = RenderRequest((str(folder),), {}, frozenset({WORKLOADS}))
    made = explain_name.compiled(request)
    items = []
    for it in made.plan.workloads.assignments:
        for form in forms.possible(it):
            family, name = forms.KIND_OF[form]
            kind = next(
                k for k in KINDS if (k.extra, k.component, k.name) == (WORKLOADS, family, name)
            )
            items += [
                released(made.loaded.spec, kind, one)
                for one in objects.workload(made.decisions, it, form)
            ]
    target = made.loaded.spec.platform.target
    manifests = [output.text([it]) for it in engine.render(items, templates=(), target=target)]
    for number, text in enumerate(manifests):
        (tmp_path / f"{number:03}.yaml").write_text(text)
    request = PatchRequest((str(tmp_path),), (str(folder),))
    done = app_patch.patch(request)
    assert [it.message for it in done.report.findings] == []
    assert app_patch.diff(done) == ""
    assert len(done.files) == len(items) > 0
    for number, text in enumerate(manifests):
        bare = yaml.safe_dump(without_policy(yaml.safe_load(text)))
        (tmp_path / f"{number:03}.yaml").write_text(bare)
    done = app_patch.patch(request)
    assert [it.message for it in done.report.findings] == []
    for text, file in zip(manifests, done.files, strict=True):
        wanted = yaml.safe_load(text)
        for task in wanted["spec"].get("tasks", ()):  # that of the Volcano Job is enough
            del task["template"]["spec"]["schedulerName"]
        assert yaml.safe_load(file.text) == wanted


def without_policy(data):
    """An object without the fields of the policy, but with its model."""
    model = data["metadata"]["labels"][MODEL]
    bare = stripped(data)
    bare["metadata"]["labels"] = {**bare["metadata"].get("labels", {}), MODEL: model}
    return bare


def stripped(data):
    if isinstance(data, list):
        return [*map(stripped, data)]
    if not isinstance(data, dict):
        return data
    return {
        key: stripped(it)
        for key, it in data.items()
        if key not in FIELDS and not key.startswith(("kueue.x-k8s.io/", "scheduling.", MODEL))
    }


FIELDS = {
    *("schedulerName", "priorityClassName", "nodeSelector", "tolerations", "resources"),
    *("queue", "annotations", "namespace", "policies"),
    *("terminationGracePeriodSeconds", "lifecycle", "topologySpreadConstraints", "affinity"),
    *("completionMode", "strategy", "schedule", "timeZone", "concurrencyPolicy"),
    *("startingDeadlineSeconds", "activeDeadlineSeconds"),
}


GROUP = "kueue.x-k8s.io/pod-group-name"
POD = f"""\
apiVersion: v1
kind: Pod
metadata:
  name: worker
  namespace: vision
  labels: {{policygen.dev/model: ranks, {GROUP}: run}}
spec:
  containers: [{{name: main, image: x}}]
"""


RANKS = """\
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {name: ranks}
spec:
  team: vision
  workload: training
  resources: {gpus: 1}
  placement: {pools: [a100]}
  gang: {size: 4}
"""


def test_a_pod_of_a_gang_is_in_a_pod_group(tmp_path):
    (tmp_path / "spec.yaml").write_text(f"{POLICY.read_text()}---\n{RANKS}")
    pod = tmp_path / "pod.yaml"
    request = PatchRequest((str(pod),), (str(tmp_path / "spec.yaml"),))
    pod.write_text(POD)
    total = {"kueue.x-k8s.io/pod-group-total-count": "4"}
    assert parsed(app_patch.patch(request).files[0].text)["metadata"]["annotations"] == total
    pod.write_text(changed(f", {GROUP}: run", "", POD))
    (found,) = app_patch.patch(request).refused
    assert found.place.line == 6
    assert (
        'model "ranks" is a gang of 4 pods, but Kueue admits a pod without a pod group alone'
        in found.message
    )


def test_a_namespace_of_the_team_has_its_own_queue():
    spec = yaml.safe_load_all(POLICY.read_text())
    documents = list(spec)
    team = next(it for it in documents if it["metadata"]["name"] == "vision")
    team["spec"]["namespaces"].append({"name": "vision-dev"})
    text = changed(
        "namespace: vision", "namespace: vision-dev\n  labels: {policygen.dev/model: plain}"
    )
    stream = "---\n".join([text, *map(yaml.safe_dump, documents)])
    done = app_patch.patch(PatchRequest(("-",)), stdin=io.BytesIO(stream.encode()))
    assert done.report.findings == ()
    assert f"{{policygen.dev/model: plain, {QUEUE}: a100}}" in done.files[0].text
    plain = next(it for it in documents if it["metadata"]["name"] == "plain")
    plain["spec"]["namespace"] = "vision"
    stream = "---\n".join([text, *map(yaml.safe_dump, documents)])
    done = app_patch.patch(PatchRequest(("-",)), stdin=io.BytesIO(stream.encode()))
    ((finding,)) = done.report.findings
    assert (
        'metadata.namespace is "vision-dev", but pods of model "plain" need "vision"'
        in finding.message
    )


def test_a_spec_is_needed():
    with pytest.raises(UsageError, match="add --spec SPEC"):
        app_patch.patch(PatchRequest(("-",)), stdin=io.BytesIO(JOB.encode()))


JUNK = (
    None,
    {},
    [],
    "",
    "x",
    3,
    True,
    [None],
    {"a": None},
    [[]],
    "{{ x }}",
    -1,
    1.5,
    {"nvidia.com/gpu": "many"},
)


def places(data, path=()):
    if path:
        yield path
    if isinstance(data, dict | list):
        for key, it in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(it, (*path, key))


@settings(max_examples=25, deadline=None)
@given(st.integers(min_value=1000))
def test_manifests_with_wrong_values_are_patched_correctly_or_stay(seed):
    rng = Random(seed)
    _, _, data, model = drawn(seed)
    for _ in range(rng.randint(1, 3)):
        *way, last = rng.choice(list(places(data)))
        holder = at_path(data, tuple(way))
        holder[last] = deepcopy(rng.choice(JUNK))  # a later turn may change its inside
    text = Layout(rng).text(data)
    done = patched(text, model=rng.choice([None, model]))
    if done.report.findings:
        assert (done.changed, done.patches) == ((), ())
    for it in done.patches:
        new = parsed(done.files[0].text)
        assert new == applied(parsed(text), operations(it.added))
        assert kept(parsed(text), new)
