"""The printed ClusterRole: what it allows follows from the rules."""

from pathlib import Path

import yaml
from click.testing import CliRunner
from yamllint import config, linter

from policygen.app.sources import cluster_query
from policygen.cli.main import cli
from policygen.client.permissions import permissions
from policygen.core.versions import DEFAULT
from policygen.lint.registry import RULES

ROOT = Path(__file__).parents[2]


def printed(*arguments):
    done = CliRunner().invoke(cli, ["rbac", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def allowed(role):
    return {
        (group, resource, tuple(rule.get("resourceNames", ())))
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_it_is_the_golden_one(update):
    path = Path(__file__).with_name("cluster_role.yaml")
    text = printed()
    if update:
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


def test_it_allows_exactly_the_lists_that_are_needed():
    role = yaml.safe_load(printed())
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"list"}
    expected = permissions(cluster_query(RULES, None, DEFAULT))
    assert allowed(role) == {(it.group, it.resource, it.names) for it in expected}
    assert "secrets" not in {resource for _, resource, _ in allowed(role)}
    (names,) = (names for _, resource, names in allowed(role) if resource == "configmaps")
    assert names == ("kueue-manager-config", "volcano-scheduler-configmap")


def test_namespaces_have_a_role_each_and_cluster_scoped_kinds_a_cluster_role():
    options = ("--namespace", "vision", "--namespace", "speech")
    whole, *inner = yaml.safe_load_all(printed(*options))
    places = [(it["kind"], it["metadata"].get("namespace")) for it in (whole, *inner)]
    assert places == [("ClusterRole", None), ("Role", "speech"), ("Role", "vision")]
    assert allowed(inner[0]) == allowed(inner[1])
    everything = allowed(yaml.safe_load(printed()))
    assert allowed(whole) | allowed(inner[0]) == everything
    assert not allowed(whole) & allowed(inner[0])
    resources = {resource for _, resource, _ in allowed(whole)}
    assert {"nodes", "namespaces", "clusterqueues"} <= resources
    assert not resources & {"pods", "localqueues", "configmaps", "jobs"}


def test_one_rule_needs_less():
    role = yaml.safe_load(printed("--rule", "local-queue-without-cluster-queue"))
    assert allowed(role) == {
        ("kueue.x-k8s.io", "clusterqueues", ()),
        ("kueue.x-k8s.io", "localqueues", ()),
    }


def test_a_spec_adds_its_config_maps():
    role = yaml.safe_load(printed(str(ROOT / "examples" / "three-schedulers" / "policy.yaml")))
    (names,) = (names for _, resource, names in allowed(role) if resource == "configmaps")
    assert "mixed-kube-scheduler" in names


def test_yamllint_accepts_it_with_any_name():
    text = printed("--name", "on")
    assert yaml.safe_load(text)["metadata"]["name"] == "on"
    assert list(linter.run(text, config.YamlLintConfig("extends: default"))) == []
