"""Rendering a spec: the files of controllers, and the templates of users."""

import pytest
import yaml

from tests.cli.commands import SPEC


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


@pytest.mark.parametrize(
    "settings", ['action: "off"', 'rules: {queue: "off", scheduler: "off"}, action: "off"']
)
def test_admission_without_a_rule_is_refused(run, spec, settings):
    platform = (
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: set}\n"
        f"spec: {{admission: {{{settings}}}}}\n"
    )
    (spec / "platform.yaml").write_text(platform)
    code, out, err = run("render", spec, "--with", "admission")
    assert (code, out) == (2, "")
    assert "--with admission renders no rule" in err


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
