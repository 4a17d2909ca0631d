"""The command line as its users meet it: streams, exit codes, options, files."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from policygen import __version__
from policygen.cli import completion, main

ROOT = Path(__file__).parents[2]
ARTICLES = [str(path) for path in sorted((ROOT / "examples" / "articles").glob("*.yaml"))]

SPEC = """\
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata:
  name: p
spec:
  nodeSelector:
    pool: p
  gpu:
    product: NVIDIA-A100-SXM4-80GB
  capacity:
    nodes: 8
    nodeType: a2-ultragpu-8g
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata:
  name: a
spec:
  namespaces:
    - name: a
  quotas:
    - pool: p
      guarantee: 20
"""


@pytest.fixture
def run(capfdbinary, monkeypatch):
    """`policygen ARGUMENTS` in this process: exit code, stdout, stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["policygen", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main.main()
        out, err = capfdbinary.readouterr()
        return int(stop.value.code or 0), out.decode(), err.decode()

    return call


@pytest.fixture
def spec(tmp_path):
    folder = tmp_path / "spec"
    folder.mkdir()
    (folder / "policy.yaml").write_text(SPEC, "utf-8")
    return folder


def kinds(text):
    return [document["kind"] for document in yaml.safe_load_all(text)]


def test_render_prints_objects_in_apply_order(run, spec):
    code, out, err = run("render", spec)
    assert code == 0
    assert kinds(out) == ["ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue", "ConfigMap"]
    assert "error" not in err


def test_the_articles_render_without_an_edit(run):
    code, out, err = run("render", *ARTICLES)
    assert code == 0
    assert "ClusterQueue" in kinds(out)
    assert "llama-70b" in err
    assert "a100-80gb" in err


def test_an_error_leaves_standard_output_empty(run, spec):
    (spec / "bad.yaml").write_text(SPEC.replace("name: a\n", "name: b\n").replace("20", "-1"))
    code, out, err = run("render", spec)
    assert (code, out) == (2, "")
    assert "bad.yaml" in err


def test_quiet_hides_notes_and_keeps_warnings(run):
    _, _, loud = run("validate", *ARTICLES)
    _, _, quiet = run("validate", "-q", *ARTICLES)
    assert "info: " in loud
    assert "info: " not in quiet
    assert " warning: " in quiet


def five_models(tmp_path):
    """Two pools, two teams, and five models, in a file."""
    pool = SPEC.split("---", maxsplit=1)[0]
    second = pool.replace("name: p", "name: q").replace("pool: p", "pool: q")
    quotas = "quotas:\n    - pool: p\n      guarantee: 20\n    - pool: q\n      guarantee: 20\n"
    team = SPEC.split("---")[1].partition("quotas:")[0] + quotas
    more = team.replace("name: a", "name: b")
    classes = (
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: set}\n"
        "spec:\n  priorities: [{name: high, value: 100}, {name: low, value: 10}]\n"
    )
    model = (
        "apiVersion: policygen.dev/v1alpha1\nkind: Model\nmetadata: {{name: m{number}}}\n"
        "spec:\n  team: {team}\n  workload: batch\n  priority: {priority}\n  family: llama\n  size: 8b\n"
        "  placement: {{pools: [{pool}]}}\n"
    )
    models = [
        model.format(number=number, team="ab"[number % 2], priority=priority, pool=pool)
        for number, (pool, priority) in enumerate(
            [("p", "high"), ("p", "high"), ("q", "low"), ("q", "high"), ("p", "low")]
        )
    ]
    path = tmp_path / "five.yaml"
    path.write_text("---\n".join([classes, pool, second, team, more, *models]))
    return path


def test_notes_of_five_models_fit_one_screen(run, tmp_path):
    code, out, err = run("validate", five_models(tmp_path))
    assert (code, out) == (0, "valid: 2 pools, 2 teams, 5 models, 16 objects\n")
    assert len(err.splitlines()) <= 30
    _, _, every = run("validate", "--all", tmp_path / "five.yaml")
    assert all(" need nvidia.com/gpu: 1; " in it for it in every.splitlines() if "[pods-m" in it)
    assert every.count("[pods-must-carry]") == 5


@pytest.mark.parametrize("command", ["render", "validate"])
def test_quiet_keeps_the_fields_that_pods_need(run, tmp_path, command):
    _, _, quiet = run(command, "-q", five_models(tmp_path))
    assert "info: " not in quiet
    for number in range(5):
        assert f"model m{number} in namespace" in quiet
    blocks = re.split(r"\n(?:# .*\n)+", quiet)[1:]
    fields = [yaml.safe_load(block) for block in blocks]
    assert {it["labels"]["kueue.x-k8s.io/queue-name"] for it in fields} == {"p", "q"}
    assert {it["labels"]["kueue.x-k8s.io/priority-class"] for it in fields} == {"high", "low"}
    assert len(fields) == 4


@pytest.mark.parametrize("threshold, code", [("error", 0), ("warning", 1), ("info", 1)])
def test_validate_fails_on(run, threshold, code):
    assert run("validate", *ARTICLES, "--fail-on", threshold)[0] == code


def test_validate_counts_what_there_is(run, spec):
    code, out, _ = run("validate", spec)
    assert (code, out) == (0, "valid: 1 pool, 1 team, 0 models, 4 objects\n")


@pytest.mark.parametrize("text", ["", "---\n"])
def test_validate_warns_of_what_renders_nothing(run, tmp_path, text):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    code, out, err = run("validate", path, "--fail-on", "warning")
    assert (code, out) == (1, "valid: 0 pools, 0 teams, 0 models, 0 objects\n")
    assert "[renders-nothing]" in err
    assert run("validate", path)[0] == 0


def test_standard_input(run, monkeypatch):
    reading, writing = os.pipe()
    os.write(writing, SPEC.encode())
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": pipe})())
        code, out, _ = run("render", "-")
    assert code == 0
    assert "ClusterQueue" in kinds(out)


@pytest.mark.parametrize(
    "option, word",
    [
        (["--target", "kueue=0.12"], "0.13"),
        (["--target", "kueue=latest"], "0.13"),
        (["--target", "kubernetes"], "COMPONENT=VERSION"),
        (["--target", "kai=1.0"], "kueue"),
        (["--target", "kueue=0.18", "--target", "kueue=0.19"], "two versions"),
        (["-o", "out.json"], "manifests are YAML"),
        (["--only", "ClusterQueues"], "ClusterQueue"),
        (["--with", "everything"], "volcano-config"),
        (["--with", "kueue-config"], "spec.kueue.configuration"),
        (["--with", "second-scheduler"], "spec.kubeScheduler.image"),
        (["--check"], "-o"),
        (["-o", ""], "-o needs a folder"),
        (["-o", "-"], "standard output"),
        (["--only", "Cohort", "-o", "out"], "--only"),
        (["--only", "Namespace"], "--allow-empty"),
        (["--templates", "nowhere"], "nowhere"),
        (["--raw-scheduler-config", "--kueue-helm-values"], "one"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_what_cannot_be_done_is_said(run, spec, option, word):
    code, out, err = run("render", spec, *option)
    assert (code, out) == (2, "")
    assert word in err
    assert "Traceback" not in err


def test_target_overrides_the_platform(run, spec):
    _, out, _ = run("render", spec, "--target", "kueue=0.14", "--only", "ClusterQueue")
    (queue,) = yaml.safe_load_all(out)
    assert queue["apiVersion"] == "kueue.x-k8s.io/v1beta1"
    assert queue["spec"]["cohort"] == "p"


def test_only_is_case_insensitive_and_repeatable(run, spec):
    _, out, _ = run("render", spec, "--only", "localqueue", "--only", "Cohort")
    assert kinds(out) == ["Cohort", "LocalQueue"]


def test_an_empty_set_is_refused_unless_asked_for(run, tmp_path):
    (tmp_path / "platform.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: empty}\n"
    )
    code, out, err = run("render", tmp_path)
    assert (code, out) == (2, "")
    assert "--allow-empty" in err
    assert run("render", tmp_path, "--allow-empty")[:2] == (0, "")


def test_raw_scheduler_config_keeps_the_default_scheduler(run, spec):
    code, out, _ = run("render", spec, "--raw-scheduler-config")
    assert code == 0
    config = yaml.safe_load(out)
    assert config["kind"] == "KubeSchedulerConfiguration"
    names = [profile["schedulerName"] for profile in config["profiles"]]
    assert names == ["default-scheduler", "default.binpack"]
    assert "leaderElection" not in config


def test_second_scheduler_has_our_profiles_only(run, spec):
    platform = (
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: set}\n"
        "spec: {kubeScheduler: {image: registry.example.com/kube-scheduler:v1.36.3}}\n"
    )
    (spec / "platform.yaml").write_text(platform)
    code, out, _ = run("render", spec, "--with", "second-scheduler")
    assert code == 0
    objects = {(it["kind"], it["metadata"]["name"]): it for it in yaml.safe_load_all(out)}
    config = objects["ConfigMap", "set-kube-scheduler"]["data"]["config.yaml"]
    inner = yaml.safe_load(config)
    assert [profile["schedulerName"] for profile in inner["profiles"]] == ["set.binpack"]
    assert inner["leaderElection"]["resourceName"] == "set-kube-scheduler"
    deployment = objects["Deployment", "set-kube-scheduler"]
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "registry.example.com/kube-scheduler:v1.36.3"
    assert ("ServiceAccount", "set-kube-scheduler") in objects


BASE = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
metrics:
  bindAddress: :9999
waitForPodsReady:
  timeout: 5m
integrations:
  frameworks:
    - pod
"""


@pytest.mark.parametrize("inside", [False, True], ids=["file", "ConfigMap"])
def test_kueue_config_is_merged_over_the_base_file(run, spec, inside):
    base = BASE
    if inside:
        indented = "".join(f"    {line}\n" for line in BASE.splitlines())
        base = (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kueue-manager-config}\n"
            f"data:\n  controller_manager_config.yaml: |\n{indented}"
        )
    (spec.parent / "kueue.yaml").write_text(base)
    (spec / "platform.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: set}\n"
        "spec: {kueue: {configuration: ../kueue.yaml}}\n"
    )
    team = SPEC.split("---\n")[1].replace("name: a", "name: b")
    (spec / "b.yaml").write_text(team + "      weight: 3\n")
    code, out, err = run("render", spec, "--with", "kueue-config")
    assert code == 0, err
    (config_map,) = [
        it for it in yaml.safe_load_all(out) if it["metadata"]["name"] == "kueue-manager-config"
    ]
    assert config_map["metadata"]["namespace"] == "kueue-system"
    merged = yaml.safe_load(config_map["data"]["controller_manager_config.yaml"])
    assert merged["metrics"] == {"bindAddress": ":9999"}
    assert merged["waitForPodsReady"]["timeout"] == "5m"  # the base's word stays
    assert merged["waitForPodsReady"]["blockAdmission"] is False
    assert merged["fairSharing"]["preemptionStrategies"]
    assert merged["integrations"]["frameworks"] == ["pod", "batch/job"]


def test_kueue_config_without_a_configuration_in_the_file(run, spec):
    (spec.parent / "kueue.yaml").write_text("kind: Other\napiVersion: v1\n")
    (spec / "platform.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: set}\n"
        "spec: {kueue: {configuration: ../kueue.yaml}}\n"
    )
    code, out, err = run("render", spec, "--with", "kueue-config")
    assert (code, out) == (2, "")
    assert "platform.yaml:4:" in err


@pytest.mark.parametrize(
    "old, new, place",
    [
        ("frameworks:\n    - pod", "frameworks: pod", "kueue.yaml:8:"),
        ("waitForPodsReady:\n  timeout: 5m", "waitForPodsReady: 5m", "kueue.yaml:5:"),
        ("kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1", "kueue.yaml:1:"),
    ],
)
def test_a_base_file_that_cannot_be_merged_into(run, spec, old, new, place):
    (spec.parent / "kueue.yaml").write_text(BASE.replace(old, new))
    (spec / "platform.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: set}\n"
        "spec: {kueue: {configuration: ../kueue.yaml}}\n"
    )
    code, out, err = run("render", spec, "--with", "kueue-config")
    assert (code, out) == (2, "")
    assert place in err
    assert "[bad-base-file]" in err


def test_own_templates_print_nothing_that_a_server_of_the_target_refuses(run, spec, tmp_path):
    own = tmp_path / "own"
    (own / "kueue").mkdir(parents=True)
    (own / "kueue" / "local_queue.yaml.j2").write_text(
        '{% extends "builtin/kueue/local_queue.yaml.j2" %}\n'
        "{% block spec %}spec: {clusterQueu: {{ it.cluster_queue }}}{% endblock %}\n"
    )
    code, out, err = run("render", spec, "--templates", own)
    assert (code, out) == (2, "")
    assert 'spec.clusterQueu: field "clusterQueu" is unknown in spec; did you mean' in err


def test_an_older_base_file_keeps_its_version_also_beside_own_templates(run, spec, tmp_path):
    (spec.parent / "kueue.yaml").write_text(BASE.replace("v1beta2", "v1beta1"))
    (spec / "platform.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: set}\n"
        "spec: {kueue: {configuration: ../kueue.yaml}}\n"
    )
    own = tmp_path / "own"
    (own / "kueue").mkdir(parents=True)
    (own / "kueue" / "local_queue.yaml.j2").write_text(
        '{% extends "builtin/kueue/local_queue.yaml.j2" %}\n'
    )
    code, out, err = run("render", spec, "--with", "kueue-config", "--templates", own)
    assert code == 0, err
    texts = [
        it["data"]["controller_manager_config.yaml"]
        for it in yaml.safe_load_all(out)
        if it["metadata"]["name"] == "kueue-manager-config"
    ]
    config = yaml.safe_load(texts[0])
    assert config["apiVersion"].endswith("/v1beta1")
    assert config["waitForPodsReady"]["enable"] is True


def test_kueue_helm_values(run, spec):
    code, out, _ = run("render", spec, "--kueue-helm-values")
    assert code == 0
    text = yaml.safe_load(out)["managerConfig"]["controllerManagerConfigYaml"]
    config = yaml.safe_load(text)
    assert config["kind"] == "Configuration"
    assert config["waitForPodsReady"]["timeout"] == "30m"
    assert config["leaderElection"]["leaderElect"] is True


def test_folder_check_and_removal(run, spec, tmp_path):
    out = tmp_path / "out"
    assert run("render", spec, "-o", out)[0] == 0
    names = sorted(path.name for path in out.glob("*.yaml"))
    assert "clusterqueue.a.p.yaml" in names
    assert run("render", spec, "-o", out, "--check")[:2] == (0, "")
    (spec / "policy.yaml").write_text(SPEC.replace("20", "24"))
    code, diff, _ = run("render", spec, "-o", out, "--check")
    assert code == 1
    assert '-              nominalQuota: "20"' in diff
    assert '+              nominalQuota: "24"' in diff
    (spec / "policy.yaml").write_text(SPEC.split("---\n", maxsplit=1)[0])
    assert run("render", spec, "-o", out)[0] == 0
    assert not (out / "clusterqueue.a.p.yaml").exists()


def test_edited_files_are_refused_and_named(run, spec, tmp_path):
    out = tmp_path / "out"
    run("render", spec, "-o", out)
    edited = out / "clusterqueue.a.p.yaml"
    edited.write_text(edited.read_text() + "# mine\n")
    (spec / "policy.yaml").write_text(SPEC.replace("20", "24"))
    code, _, err = run("render", spec, "-o", out)
    assert code == 2
    assert "clusterqueue.a.p.yaml" in err
    assert edited.read_text().endswith("# mine\n")


def test_one_file(run, spec, tmp_path):
    target = tmp_path / "manifests.YAML"
    assert run("render", spec, "-o", target)[0] == 0
    _, out, _ = run("render", spec)
    assert target.read_text() == out
    assert run("render", spec, "-o", target, "--check")[0] == 0
    target.write_text("# mine\n")
    assert run("render", spec, "-o", target, "--check")[0] == 1
    code, _, err = run("render", spec, "-o", target)
    assert code == 2
    assert "was not written by policygen" in err
    assert target.read_text() == "# mine\n"


def test_the_name_says_whether_it_is_a_file_or_a_folder(run, spec, tmp_path):
    """To --check as to what writes."""
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "file").write_text("")
    for name, said in (("folder.yaml", "is a folder"), ("file", "is a file")):
        for more in ((), ("--check",)):
            code, out, err = run("render", spec, "-o", tmp_path / name, *more)
            assert (code, out) == (2, "")
            assert f"{name} {said}" in err


def test_another_sets_folder_is_refused(run, spec, tmp_path):
    out = tmp_path / "out"
    run("render", spec, "-o", out)
    other = spec.parent / "other"
    other.mkdir()
    (other / "spec.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: other}\n---\n"
        + SPEC.replace("name: p\n", "name: q\n").replace("pool: p", "pool: q")
    )
    code, _, err = run("render", other, "-o", out)
    assert code == 2
    assert "contains files of the set default (label policygen.dev/set)" in err
    assert (out / "clusterqueue.a.p.yaml").exists()


@pytest.mark.parametrize(
    "redirection, word",
    [(">&-", b"closed"), ("> /dev/full", b"cannot be written"), ("2>&-", b""), ("<&-", b"")],
)
def test_streams_that_are_closed_or_full(spec, redirection, word):
    command = f"'{sys.executable}' -m policygen render '{spec}' {redirection}"
    done = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr + done.stdout
    assert word in done.stderr
    assert done.returncode == (2 if word else 0)


@pytest.mark.parametrize("command", ["lint '{}'", "rules", "explain limit-above-parent", "rbac"])
def test_no_command_breaks_on_a_full_disk(spec, command):
    words = f"'{sys.executable}' -m policygen {command.format(spec)} > /dev/full"
    done = subprocess.run(words, shell=True, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr
    assert b"standard output cannot be written: No space left on device" in done.stderr
    assert done.returncode == 2


def test_standard_input_that_is_closed():
    command = f"'{sys.executable}' -m policygen validate - <&-"
    done = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"standard input is closed" in done.stderr


def completed(line):
    """What the scripts for shells are told for a line: kind, value and help of each candidate."""
    done = subprocess.run(
        [sys.executable, "-m", "policygen"],
        env={**os.environ, "_POLICYGEN_COMPLETE": "bash_complete", "_POLICYGEN_LINE": line},
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(each.split("\t")) for each in done.stdout.splitlines()]


def test_the_script_of_another_release_gets_no_answer():
    environ = {key: value for key, value in os.environ.items() if key != "_POLICYGEN_LINE"}
    done = subprocess.run(
        [sys.executable, "-m", "policygen"],
        env={**environ, "_POLICYGEN_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout + done.stderr == ""


@pytest.mark.parametrize(
    "line, values",
    [
        ("policygen val", {"validate"}),
        ("policygen render --ou", {"--output"}),
        ("policygen render --only cluster", {"ClusterQueue", "ClusterRoleBinding"}),
        ("policygen render --only=ClusterQ", {"ClusterQueue"}),
        ("policygen render spec --target volcano=1.1", {f"volcano=1.{n}" for n in range(12, 16)}),
        ("policygen render --target=kueue=0.19", {"kueue=0.19"}),
        ("policygen render --with v", {"volcano-config"}),
        ("policygen validate --fail-on ", {"error", "warning", "info"}),
        ("policygen schema re", {"ResourcePool"}),
        ("policygen schema gpu.", {"gpu.example.com/ResourcePool"}),
        ("policygen completion ", {"bash", "fish", "zsh"}),
    ],
)
def test_words_complete(line, values):
    assert {(kind, value) for kind, value, _ in completed(line)} == {("plain", v) for v in values}


def test_contexts_of_the_named_kubeconfig_complete(tmp_path):
    file = tmp_path / "config"
    names = ("prod-east", "prod-west", "dev")
    contexts = [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in names]
    file.write_text(json.dumps({"contexts": contexts, "current-context": "dev"}))
    for command in ("lint", "snapshot", "diff", "rbac"):
        found = completed(f"policygen {command} --kubeconfig {file} --context prod")
        assert [value for _, value, _ in found] == ["prod-east", "prod-west"]
    assert completed(f"policygen lint --kubeconfig {tmp_path} --context ") == [("",)]


@pytest.mark.parametrize(
    "line, kind",
    [
        ("policygen render ", "file"),
        ("policygen render sp", "file"),
        ("policygen render a.yaml b", "file"),
        ("policygen validate -q sp", "file"),
        ("policygen render -o sp", "file"),
        ("policygen render --templates sp", "dir"),
    ],
)
def test_paths_are_left_to_the_shell(line, kind):
    assert [found[0] for found in completed(line)] == [kind]


def test_candidates_have_their_whole_help_in_one_line():
    (found,) = completed("policygen render --output")
    assert found[2] == (
        "Write one file per object to this folder, or a single file if PATH ends in .yaml."
    )


BASH = """\
policygen() { '%s' -m policygen "$@"; }
compopt() { echo "compopt $*"; }
eval "$(policygen completion bash)"
complete -p policygen
COMP_LINE=$1 COMP_POINT=${#1}
_policygen policygen "$2" ""
printf '%%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    "line, word, reply",
    [
        # readline takes what follows the last = for the word.
        ("policygen render --only=Cluster", "Cluster", "ClusterQueue ClusterRoleBinding"),
        ("policygen render --target kueue=0.19", "0.19", "0.19"),
        ("policygen render --target=kueue=0.19", "0.19", "0.19"),
        ("policygen render --target kueue=", "", " ".join(f"0.{n}" for n in range(13, 20))),
        ("policygen schema Re", "Re", "ResourcePool"),
        ("policygen render sp", "sp", "compopt -o default"),
        ("policygen render --templates=sp", "sp", "compopt -o dirnames"),
    ],
)
def test_bash_completes(line, word, reply):
    done = subprocess.run(
        ["bash", "-c", BASH % sys.executable, "bash", line, word],
        capture_output=True,
        text=True,
        check=True,
    )
    registered, *found = done.stdout.split("\n")
    assert registered == "complete -o nosort -F _policygen policygen"
    assert " ".join(found).strip() == reply
    assert done.stderr == ""


@pytest.mark.parametrize("name", ["out", "out.yaml"])
def test_output_inside_the_spec_folder_is_refused(run, spec, name):
    code, _, err = run("render", spec, "-o", spec / name)
    assert code == 2
    assert "inside the spec folder" in err
    assert not (spec / name).exists()


def test_redirection_into_the_spec_folder_is_refused(spec):
    with (spec / "manifests.yaml").open("wb") as target:
        done = subprocess.run(
            [sys.executable, "-m", "policygen", "render", spec],
            stdout=target,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert b"manifests.yaml" in done.stderr
    assert (spec / "manifests.yaml").read_bytes() == b""


def test_a_closed_pipe_ends_quietly(spec):
    done = subprocess.run(
        f"'{sys.executable}' -m policygen render '{spec}' | true",
        shell=True,
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


def test_control_characters_never_reach_the_terminal(run, spec):
    (spec / "bad.yaml").write_text('apiVersion: "policygen.dev/\\e[31m"\nkind: "\\e]0;x\\a"\n')
    code, _, err = run("validate", spec)
    assert code == 2
    assert "\x1b" not in err
    assert "\x07" not in err


def test_colours_only_when_asked_or_on_a_terminal(run, spec, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    (spec / "policy.yaml").write_text(SPEC.replace("product", "prodcut"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("validate", spec)[2]
    monkeypatch.delenv("FORCE_COLOR")
    assert "\x1b[" not in run("validate", spec)[2]


def test_schema(run):
    code, out, _ = run("schema")
    assert code == 0
    for name in out.split():
        code, text, _ = run("schema", name)
        assert code == 0
        assert json.loads(text)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert run("schema", "resourcepool")[0] == 0
    code, out, err = run("schema", "ResourcePol")
    assert (code, out) == (2, "")
    assert "ResourcePool" in err


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_a_shell_takes_its_completion_script(run, shell):
    code, out, _ = run("completion", shell)
    assert code == 0
    assert f"_POLICYGEN_COMPLETE={shell}_complete" in out
    if program := shutil.which(shell):
        syntax = [program, "--no-execute" if shell == "fish" else "-n"]
        subprocess.run(syntax, input=out, text=True, check=True)


def test_version_and_help(run):
    assert run("--version")[:2] == (0, f"policygen {__version__}\n")
    for command in ("render", "validate", "schema", "completion"):
        code, out, _ = run(command, "--help")
        assert code == 0
        assert "Examples:" in out
    assert run("--help")[0] == 0
    assert run("render")[0] == 2
    assert run("rendr")[0] == 2


def test_a_bug_is_exit_code_four(run, spec, monkeypatch):
    from policygen.app import render  # noqa: PLC0415 - only here

    monkeypatch.setattr(render, "validate", lambda *_, **__: 1 / 0)
    code, out, err = run("validate", spec)
    assert (code, out) == (4, "")
    assert "ZeroDivisionError" in err


def test_foreign_documents_are_counted(run, spec):
    (spec / "deployment.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {}\n")
    code, _, err = run("validate", "--all", spec)
    assert code == 0
    assert "1 document of other API groups skipped" in err
    _, _, err = run("validate", spec)
    assert "2 more that need no action; --all shows them" in err


def test_a_rule_that_there_is_not_is_refused_by_every_command(run, tmp_path):
    (tmp_path / "spec.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: a}\n"
        "spec:\n  lint:\n    severities: {model-above-limi: info}\n" + "---\n" + SPEC
    )
    for command in ("render", "validate", "lint"):
        code, out, err = run(command, tmp_path / "spec.yaml")
        assert (code, out) == (2, "")
        assert 'did you mean "model-above-limit"?' in err


def test_another_fault_of_a_platform_hides_no_rule_that_there_is_not(run, tmp_path):
    (tmp_path / "spec.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: a}\n"
        "spec:\n  colour: red\n  lint:\n    severities: {model-above-limi: info}\n"
        "    bounds: {gang-pending-lon: 1h}\n    waivers: [{rule: cohort-of-won, reason: a}]\n"
    )
    code, out, err = run("validate", tmp_path / "spec.yaml")
    assert code == 2
    for told in (
        'unknown field "colour"',
        "model-above-limit",
        "gang-pending-long",
        "cohort-of-one",
    ):
        assert told in out + err


def test_quiet_hides_the_notes_of_a_refused_spec_too(run, tmp_path):
    assumed = SPEC.replace("    nodeType: a2-ultragpu-8g\n", "")
    (tmp_path / "spec.yaml").write_text(assumed.replace("guarantee: 20", "guarantee: 2000"))
    for command in ("render", "validate"):
        code, _, loud = run(command, tmp_path / "spec.yaml")
        assert code == 2
        assert "info: " in loud
        code, _, quiet = run(command, "-q", tmp_path / "spec.yaml")
        assert code == 2
        assert "info: " not in quiet
        assert "[guarantees-above-available]" in quiet
