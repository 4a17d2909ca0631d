"""Every field that the policy decides in a rendered workload is one that patch writes and lint compares."""

import io
from datetime import date

import pytest
import yaml

from policygen.app import explain_name, lint, patch
from policygen.app.requests import LintRequest, PatchRequest, RenderRequest
from policygen.app.workload import workload
from policygen.core.finding import at_path
from tests.app.test_patch import ROOT

RULE = "workload-differs-from-model"
LISTS = ("containers", "tasks", "replicatedJobs")
"""Lists whose entries have fields of the policy."""
OF_AUTHOR = {
    *("image", "command", "args", "ports", "name", "app"),
    *("restartPolicy", "ttlSecondsAfterFinished"),
    *("app.kubernetes.io/managed-by", "policygen.dev/set"),  # labels of what is rendered
}
COUNTS = {"replicas", "parallelism", "completions"}
"""The number of pods of a model that is not a gang is the author's."""
LABEL = "policygen.dev/model"


def leaves(data, path=()):
    """The paths of all values; that of a list if its entries are no parts of the object."""
    steps = data.items() if isinstance(data, dict) else enumerate(data)
    for key, it in steps:
        inner = isinstance(it, dict) or (isinstance(it, list) and key in LISTS)
        if inner and it:
            yield from leaves(it, (*path, key))
        else:
            yield (*path, key)


def without(data, path):
    copy = yaml.safe_load(yaml.safe_dump(data))
    del at_path(copy, path[:-1])[path[-1]]
    return copy


def is_policy(data, path, gang):
    last = path[-1]
    if path[0] in ("apiVersion", "kind") or "selector" in path:
        return False
    if last in OF_AUTHOR and "preStop" not in path:
        return False
    if "requests" in path:
        return False  # the API server copies the limits
    if "tasks" in path and last == "schedulerName":
        return False  # that of the Volcano Job is enough
    if last == "maxRetry" or ("tasks" in path and last == "minAvailable"):
        return False  # they are written so that a later apply of the Volcano Job changes nothing
    if last == "podManagementPolicy" or last in COUNTS:
        return gang and (data["kind"], last) != ("LeaderWorkerSet", "replicas")
    return True


def workloads(example):
    request = RenderRequest((str(ROOT / "examples" / example),), {})
    for it in explain_name.compiled(request).plan.workloads.assignments:
        text = workload(request, it.model.name).text.replace('image: ""', "image: a")
        yield next(yaml.safe_load_all(text)), it.model.gang is not None


@pytest.fixture(scope="module", params=["ml-platform", "kueue-team-tree"])
def taken(request, tmp_path_factory):
    """The spec, and each workload without one field: the path, what it was, what it is, the policy decides it."""
    found = [
        (path, data, without(data, path), is_policy(data, path, gang))
        for data, gang in workloads(request.param)
        for path in leaves(data)
        if path[0] not in ("apiVersion", "kind")
        and path[-2:] != ("limits", "cpu")  # only if the model sets cpu
        and path[-1] != "app"  # then nothing selects the pods
        and ("tasks" not in path or path[-1] != "replicas")  # patch does not know of which task
    ]
    file = tmp_path_factory.mktemp("taken") / "all.yaml"
    file.write_text(yaml.safe_dump_all([it for _, _, it, _ in found]))
    return str(ROOT / "examples" / request.param), file, found


def test_patch_restores_each_field(taken):
    spec, file, found = taken
    done = patch.patch(PatchRequest(("-",), (spec,)), stdin=io.BytesIO(file.read_bytes()))
    assert [it.message for it in done.report.findings] == []
    for (path, data, bare, decided), new in zip(
        found, yaml.safe_load_all(done.files[0].text), strict=True
    ):
        assert new == (data if decided else bare), path


def test_a_limit_of_cpu_is_restored_if_the_model_sets_cpu():
    example = str(ROOT / "examples" / "ml-platform")
    request = RenderRequest((example,), {})
    seen = set()
    for it in explain_name.compiled(request).plan.workloads.assignments:
        text = workload(request, it.model.name).text.replace('image: ""', "image: a")
        data = next(yaml.safe_load_all(text))
        for path in leaves(data):
            if path[-2:] == ("limits", "cpu"):
                stdin = io.BytesIO(yaml.safe_dump(without(data, path)).encode())
                done = patch.patch(PatchRequest(("-",), (example,)), stdin=stdin)
                stated = it.model.cpu_milli is not None
                seen.add(stated)
                assert (yaml.safe_load(done.files[0].text) == data) is stated
    assert seen == {True, False}


def test_lint_reports_each_field(taken):
    spec, file, found = taken
    request = LintRequest((spec,), (str(file),), only=(RULE,))
    reported = lint.lint(request, today=date(2026, 11, 23)).findings
    starts = [1, *(n for n, it in enumerate(file.read_text().split("\n"), 2) if it == "---")]
    lines = {it.place.line for it in reported}
    for (path, _, _, decided), start, end in zip(found, starts, [*starts[1:], 10**9], strict=True):
        here = any(start <= it < end for it in lines)
        assert here == (decided and path[-1] != LABEL), path


POD = ("spec", "template", "spec")
APART = ("affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
OWN = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}  # fmt: skip


def of_model(name, path, value):
    """What patch makes of the workload of a model with one other value: the messages, or the new data."""
    spec = str(ROOT / "examples" / "ml-platform")
    data = next(yaml.safe_load_all(workload(RenderRequest((spec,), {}), name).text))
    at_path(data, path[:-1])[path[-1]] = value
    text = yaml.safe_dump(data)
    done = patch.patch(PatchRequest(("-",), (spec,)), stdin=io.BytesIO(text.encode()))
    return [it.message for it in done.report.findings], data, yaml.safe_load(done.files[0].text)


@pytest.mark.parametrize(
    ("model", "path", "value", "words"),
    [
        ("pretraining", (*POD, "terminationGracePeriodSeconds"), 30, "terminationGracePeriodSeconds is 30, but pods of model"),
        ("pretraining", (*POD, "containers", 0, "lifecycle"), {"preStop": {"sleep": {"seconds": 5}}}, 'lifecycle.preStop is not the checkpoint command of the model; write exec.command: ["python", "checkpoint.py"], or'),
        ("pretraining", ("spec", "completionMode"), "NonIndexed", 'spec.completionMode is "NonIndexed", but pods'),
        ("assistant", ("spec", "podManagementPolicy"), "OrderedReady", 'write "Parallel"'),
        ("segmenter", ("spec", "strategy"), {"rollingUpdate": {"maxSurge": 1}}, "maxSurge is 1, but pods"),
        ("segmenter", ("spec", "strategy"), {"rollingUpdate": {"maxUnavailable": 0}}, "maxUnavailable is 0, but an update has no room for one more pod"),
        ("reindex", ("spec", "schedule"), "0 12 * * *", 'spec.schedule is "0 12 * * *"'),
        ("reindex", ("spec", "concurrencyPolicy"), "Allow", 'write "Forbid"'),
        ("reindex", ("spec", "jobTemplate", "spec", "activeDeadlineSeconds"), 90000, "write 21600"),
    ],
)  # fmt: skip
def test_values_that_contradict_are_named(model, path, value, words):
    messages, _, _ = of_model(model, path, value)
    assert len(messages) == 1
    assert words in messages[0]


@pytest.mark.parametrize(
    ("model", "path", "value"),
    [
        ("segmenter", ("spec", "strategy"), {"type": "Recreate"}),
        ("segmenter", (*POD, "affinity"), {APART[1]: {APART[2]: [OWN]}}),
        ("detector", ("spec", "policies"), [{"events": ["PodFailed", "PodEvicted"], "action": "AbortJob"}]),
        ("reindex", ("spec", "startingDeadlineSeconds"), 60),
        ("reindex", ("spec", "jobTemplate", "spec", "activeDeadlineSeconds"), 3600),
    ],
)  # fmt: skip
def test_values_of_the_author_with_the_same_effect_stay(model, path, value):
    messages, before, after = of_model(model, path, value)
    assert (messages, after) == ([], before)


def test_an_anti_affinity_against_other_pods_stays_beside_that_of_the_model():
    other = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    messages, _, after = of_model("segmenter", (*POD, "affinity"), {APART[1]: {APART[2]: [other]}})
    assert messages == []
    own = {**other, "labelSelector": {"matchLabels": {"app": "segmenter"}}}
    assert at_path(after, (*POD, *APART)) == [other, own]
