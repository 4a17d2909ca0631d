"""The command workload prints what render prints for a model, in the form that the user wants."""

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "examples/ml-platform/policy.yaml"
BESIDE = "PodDisruptionBudget", "HorizontalPodAutoscaler"
MODELS = ("segmenter", "assistant", "translator", "pretraining", "detector", "embeddings")


@pytest.fixture(scope="module")
def rendered():
    text = (SPEC.parent / "expected" / "manifests.yaml").read_text("utf-8")
    return list(yaml.safe_load_all(text))


@pytest.mark.parametrize("model", MODELS)
def test_it_prints_what_render_prints(run, rendered, model):
    code, out, err = run("workload", model, SPEC)
    assert (code, err) == (0, "")
    own = [it for it in rendered if it["metadata"]["labels"].get("policygen.dev/model") == model]
    assert list(yaml.safe_load_all(out)) == own != []


@pytest.mark.parametrize(
    "model, form, kinds",
    [
        ("segmenter", "statefulset", ["StatefulSet", BESIDE[0]]),
        ("segmenter", "Job", ["Job"]),
        ("segmenter", "lws", ["LeaderWorkerSet", *BESIDE]),
        ("pretraining", "jobset", ["JobSet"]),
        ("embeddings", "vcjob", ["Job"] * 3),
    ],
)
def test_another_form(run, model, form, kinds):
    code, out, err = run("workload", model, SPEC, "--as", form)
    assert code == 0
    # Kueue refuses to change the replicas of a StatefulSet, and this model has an autoscaler.
    assert ("without an autoscaler" in err) is (form == "statefulset")
    assert ("with 2 replicas" in err) is (form == "statefulset")
    documents = list(yaml.safe_load_all(out))
    assert [it["kind"] for it in documents] == kinds
    assert "nvidia.com/gpu" in out
    assert ("replicas" in documents[0]["spec"]) is (kinds[0] == "StatefulSet")
    if BESIDE[1] in kinds:
        assert documents[-1]["spec"]["scaleTargetRef"]["kind"] == kinds[0]


def test_keda_scales_where_the_platform_names_prometheus(run, tmp_path):
    text = SPEC.read_text("utf-8")
    keda = text.replace(
        "  target:\n", "  keda: {prometheus: http://prometheus:9090}\n  target:\n", 1
    )
    path = tmp_path / "spec.yaml"
    path.write_text(keda, "utf-8")
    code, out, err = run("workload", "segmenter", path)
    assert (code, err) == (0, "")
    *_, scaled = yaml.safe_load_all(out)
    assert (scaled["kind"], scaled["spec"]["scaleTargetRef"]["kind"]) == (
        "ScaledObject",
        "Deployment",
    )


def test_a_job_set_names_its_queue(run):
    _, out, _ = run("workload", "pretraining", SPEC, "--as", "jobset")
    (it,) = yaml.safe_load_all(out)
    assert it["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "h100"
    (job,) = it["spec"]["replicatedJobs"]
    assert job["template"]["spec"]["parallelism"] == 2


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("segmentr",), 'no model "segmentr"; did you mean "segmenter"?'),
        (("segmenter", "--as", "vcjob"), "use --as deployment, statefulset, job, jobset or lws"),
        (("detector", "--as", "job"), "runAs: vcjob"),
        (("segmenter", "-n", "visio"), 'did you mean "vision"?'),
        (("segmenter", "--as", "pod"), "is not one of 'deployment'"),
    ],
)
def test_what_cannot_be_rendered(run, arguments, message):
    code, out, err = run("workload", arguments[0], SPEC, *arguments[1:])
    assert (code, out) == (2, "")
    assert message in err


ARTICLE = """
apiVersion: inference.example.com/v1
kind: ModelServingSpec
metadata: {name: m}
spec: {modelFamily: llama, modelSize: 7b, resources: {gpuMemory: 13Gi}}
"""


def test_a_model_without_team_image_or_pool(run, tmp_path, pool, team):
    own = "apiVersion: policygen.dev/v1alpha1\nkind: Model\nmetadata: {name: big}\n"
    big = own + "spec: {team: a, resources: {gpus: 100}}\n"
    bare = own.replace("big", "bare") + "spec: {team: a, resources: {gpus: 1}}\n"
    spec = tmp_path / "spec"
    spec.mkdir()
    texts = (pool(), team("a", "guarantee: 8"), ARTICLE, big, bare)
    (spec / "spec.yaml").write_text("---\n".join(texts))
    assert "has no team" in run("workload", "m", spec)[2]
    code, out, message = run("workload", "big", spec)
    assert (code, out) == (2, "")
    assert 'model "big" is not rendered, because it fits no pool' in message
    assert "lower resources.gpus" in message
    assert "on no pool\n" in run("explain", "model", "big", spec)[1]
    code, out, err = run("workload", "bare", spec)
    assert code == 0
    assert "[image-missing]" in err
    assert 'image: ""' in out


def test_warnings_about_the_values_of_a_model(run, tmp_path, pool, team):
    """The schema accepts them, and the plan does not read them."""
    own = "apiVersion: policygen.dev/v1alpha1\nkind: Model\nmetadata: {name: night}\n"
    own += "spec: {team: a, workload: batch, resources: {gpus: 1}, container: {image: a}, "
    own += 'schedule: {cron: "0 1 * * *", timeZone: Europe/Berln, hours: 1}}\n'
    spec = tmp_path / "spec.yaml"
    spec.write_text("---\n".join((pool(), team("a", "guarantee: 8"), own)))
    code, out, err = run("workload", "night", spec)
    assert (code, "timeZone: Europe/Berln" in out) == (0, True)
    assert 'did you mean "Europe/Berlin"? [time-zone-unknown]' in err


def test_a_model_with_a_namespace_runs_in_no_other(run, tmp_path, pool, team):
    own = "apiVersion: policygen.dev/v1alpha1\nkind: Model\nmetadata: {name: tts}\n"
    own += "spec: {team: a, namespace: NAME, resources: {gpus: 1}, container: {image: a}}\n"
    spec = tmp_path / "spec.yaml"
    of_team = team("a", "guarantee: 8")
    names = [it["name"] for it in yaml.safe_load(of_team)["spec"]["namespaces"]]
    spec.write_text("---\n".join((pool(), of_team, own.replace("NAME", names[0]))))
    assert f"namespace: {names[0]}\n" in run("workload", "tts", spec, "-n", names[0])[1]
    code, out, err = run("workload", "tts", spec, "-n", "other")
    assert (code, out) == (2, "")
    assert f'runs only in namespace "{names[0]}"' in err


def test_a_large_number_of_objects_is_named(run, tmp_path, pool, team):
    own = "apiVersion: policygen.dev/v1alpha1\nkind: Model\nmetadata: {name: many}\n"
    own += "spec: {team: a, workload: batch, replicas: 101, resources: {gpus: 1}, container: {image: a}}\n"
    spec = tmp_path / "spec.yaml"
    words = "policygen: 101 objects of kind Job, one for each replica of the model\n"
    for number, text in ((101, own), (100, own.replace("101", "100"))):
        spec.write_text("---\n".join((pool(), team("a", "guarantee: 8"), text)))
        code, out, err = run("workload", "many", spec)
        assert (code, out.count("kind: Job\n")) == (0, number)
        assert (words in err) == (number == 101)


def test_the_default_spec(run, tmp_path, monkeypatch):
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "policy.yaml").write_text(SPEC.read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)
    assert "kind: Deployment" in run("workload", "segmenter")[1]
    monkeypatch.chdir(tmp_path / "spec")
    assert "name the SPEC" in run("workload", "segmenter")[2]


def test_of_files_that_cannot_be_read_only_these_are_reported(run):
    for command in (("workload", "x", "nowhere/"), ("render", "nowhere/", "--with", "workloads")):
        code, out, err = run(*command)
        assert (code, out) == (2, "")
        assert (
            err
            == "nowhere/: error: this file or folder does not exist [unreadable-input]\n1 error\n"
        )
