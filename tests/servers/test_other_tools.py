"""A real API server with the CRDs of other tools accepts what we write for these tools, strictly."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from cel_expr_python import cel
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.kubernetes.cluster import KUEUE as KUEUE_GROUP
from tests.servers.client import APPLY
from tests.servers.rendering import rendered
from tests.servers.upstream import ARGO_CD, FLUX, OPENREPORTS, PROMETHEUS_OPERATOR

ROOT = Path(__file__).parents[2]
GITOPS = ROOT / "examples" / "gitops"
VOLCANO = (ROOT / "examples" / "volcano-training" / "policy.yaml").read_text("utf-8")
KUEUE = (ROOT / "examples" / "three-schedulers" / "policy.yaml").read_text("utf-8")
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: vision}
spec: {clusterQueue: visio.a100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision.a100}
spec: {namespaceSelector: {}}
"""


def install(cluster, tools, *upstreams):
    """Install the CRDs of other tools."""
    folders = [tools[it.name].folder / "assets" for it in upstreams]
    files = [path for folder in folders for path in sorted(folder.rglob("*.yaml"))]
    definitions = [
        definition
        for path in files
        for definition in yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
        if definition is not None and definition["kind"] == "CustomResourceDefinition"
    ]
    cluster.create(*definitions)
    kinds = [
        (f"{it['spec']['group']}/{version['name']}", it["spec"]["names"]["plural"])
        for it in definitions
        for version in it["spec"]["versions"]
        if version["served"]
    ]

    def served():
        return all(cluster.client.get(f"/apis/{at}/{plural}").ok for at, plural in kinds)

    cluster.until("all CRDs are served", served)


def test_kubectl_runs_policygen_as_a_plugin(tools, tmp_path):
    """The entry point `kubectl-policygen` of pyproject.toml is a script like this one."""
    plugin = tmp_path / "kubectl-policygen"
    plugin.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from policygen.__main__ import main\nmain()\n"
    )
    plugin.chmod(0o755)
    command = [tools["kubectl"].binary("kubectl"), "policygen", "render", "--help"]
    done = subprocess.run(
        command,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("Usage: kubectl policygen render [OPTIONS] SPEC...")


def documents(*path):
    return list(yaml.safe_load_all(GITOPS.joinpath(*path).read_text("utf-8")))


def dry_run(cluster, thing):
    """The server's answer to the dry run of an apply, which Flux sends for each object first."""
    resource = cluster.client.resource(thing["apiVersion"], thing["kind"])
    path = resource.path(thing["metadata"].get("namespace"), thing["metadata"]["name"])
    query = {"fieldManager": "flux", "dryRun": "All", "fieldValidation": "Strict"}
    return cluster.client.request("PATCH", path, thing, content_type=APPLY, query=query)


def refusals(cluster, things):
    answers = [(it["kind"], dry_run(cluster, it)) for it in things]
    return [(kind, answer.message) for kind, answer in answers if not answer.ok]


def test_objects_for_argo_cd_and_flux_are_accepted(cluster, tools):
    install(cluster, tools, ARGO_CD, *FLUX)
    cluster.namespace("argocd")
    cluster.namespace("flux-system")
    (sidecar,) = documents("argo-cd", "repo-server.yaml")
    labels = {"app.kubernetes.io/name": "argocd-repo-server"}
    sidecar["spec"]["selector"] = {"matchLabels": labels}
    sidecar["spec"]["template"]["metadata"] = {"labels": labels}
    pod = sidecar["spec"]["template"]["spec"]
    pod["volumes"] += [{"name": it, "emptyDir": {}} for it in ("var-files", "plugins")]
    objects = [
        sidecar,
        *documents("argo-cd", "application.yaml"),
        *documents("flux", "gpu-policy.yaml"),
    ]
    assert refusals(cluster, objects) == []


def test_the_plugin_has_only_fields_that_argo_cd_reads(tools):
    """Argo CD ignores unknown fields of this file, which is not an object of the API."""
    argo_cd = tools[ARGO_CD.name]
    code = "".join(
        argo_cd.asset(it).read_text("utf-8") for it in ARGO_CD.assets if it.endswith(".go")
    )

    def fields(struct):
        (body,) = re.findall(rf"^type {struct} struct {{$(.*?)^}}$", code, re.MULTILINE | re.DOTALL)
        return set(re.findall(r'(?:json|yaml):"(\w+)', body))

    (plugin,) = documents("argo-cd", "plugin.yaml")
    spec = plugin["spec"]
    assert plugin.keys() == {"apiVersion", "kind", "metadata", "spec"}
    assert spec.keys() <= fields("PluginConfigSpec")
    assert spec["discover"].keys() <= fields("Discover")
    assert spec["discover"]["find"].keys() <= fields("Find") | fields("Command")
    assert spec["generate"].keys() <= fields("Command")
    assert spec["parameters"].keys() <= fields("Parameters")
    for parameter in spec["parameters"]["static"]:
        assert parameter.keys() <= fields("ParameterAnnouncement")
    (application,) = documents("argo-cd", "application.yaml")
    wanted = application["spec"]["source"]["plugin"]
    assert wanted["name"] == f"{plugin['metadata']['name']}-{spec['version']}"
    known = {it["name"] for it in spec["parameters"]["static"]}
    assert {it["name"] for it in wanted["parameters"]} <= known


def test_kustomize_builds_the_folder_of_the_first_queues(tools, tmp_path):
    folder = tmp_path / "flux" / "queues-1"
    shutil.copytree(GITOPS / "flux" / "queues-1", folder)
    spec = ROOT / "examples" / "volcano-training"
    CliRunner().invoke(cli, ["render", "-q", str(spec), "-o", str(tmp_path / "manifests")])
    program = tools["kustomize"].binary("kustomize")
    # As Flux calls it: internal/generator of kustomize-controller.
    command = [program, "build", "--load-restrictor=LoadRestrictionsNone", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (queue,) = yaml.safe_load_all(done.stdout)
    assert (queue["kind"], queue["metadata"]["name"]) == ("Queue", "h100")
    _, policy, queues = documents("flux", "gpu-policy.yaml")
    assert queues["spec"]["path"] == "./flux/queues-1"
    assert queues["metadata"]["name"] in {it["name"] for it in policy["spec"]["dependsOn"]}
    assert [it["target"]["name"] for it in policy["spec"]["patches"]] == ["h100"]


def test_only_queues_of_volcano_need_an_order(cluster):
    """Flux applies an object only if the dry runs of all objects of its Kustomization succeed."""
    kueue = [
        it for it in yaml.safe_load_all(rendered(KUEUE).text) if KUEUE_GROUP in it["apiVersion"]
    ]
    assert {it["kind"] for it in kueue} >= {"ClusterQueue", "Cohort", "LocalQueue"}
    for thing in kueue:
        if namespace := thing["metadata"].get("namespace"):
            cluster.namespace(namespace)
    assert refusals(cluster, kueue) == []
    queues = {
        it["metadata"]["name"]: it
        for it in yaml.safe_load_all(rendered(VOLCANO).text)
        if it["kind"] == "Queue"
    }
    assert "not found" in dry_run(cluster, queues["robotics.h100"]).message
    cluster.apply(yaml.safe_dump(queues["h100"]))
    cluster.until("the child is accepted", lambda: dry_run(cluster, queues["robotics.h100"]).ok)


def test_flux_waits_until_queues_are_active(cluster):
    cluster.apply(rendered(KUEUE).text)
    checks = {
        it["kind"]: it for it in documents("flux", "gpu-policy.yaml")[1]["spec"]["healthCheckExprs"]
    }
    environment = cel.NewEnv(variables={"status": cel.Type.DYN})

    def healthy(kind):
        check = checks[kind]
        expression = environment.compile(check["current"])
        return [
            expression.eval(data={"status": it.get("status", {})}).value()
            for it in cluster.objects(check["apiVersion"], kind)
        ]

    for kind in checks:
        cluster.until(f"each {kind} is active", lambda kind=kind: set(healthy(kind)) == {True})
    (queue,) = [it for it in yaml.safe_load_all(QUEUES) if it["kind"] == "ClusterQueue"]
    queue["spec"]["stopPolicy"] = "Hold"
    cluster.create(queue)
    cluster.until("a stopped queue is not active", lambda: False in healthy("ClusterQueue"))


def test_reports_of_openreports_are_accepted(cluster, tools, tmp_path):
    install(cluster, tools, OPENREPORTS)
    file = tmp_path / "queues.yaml"
    file.write_text(QUEUES)
    done = CliRunner().invoke(cli, ["lint", "--manifests", str(file), "-f", "openreports"])
    assert done.exit_code == 1, done.stderr
    items = yaml.safe_load(done.stdout)["items"]
    again = cluster.apply_twice("---\n".join(map(yaml.safe_dump, items)))
    assert (again.refused, again.changed, again.warnings) == ([], [], [])
    at = "openreports.io/v1alpha1"
    of_team = cluster.get(at, "Report", "policygen", "vision")
    assert of_team["summary"]["fail"] == 1
    (result,) = [it for it in of_team["results"] if it["result"] == "fail"]
    assert result["policy"] == "local-queue-without-cluster-queue"
    assert result["resources"][0]["name"] == "a100"
    assert cluster.get(at, "ClusterReport", "policygen")["summary"]["pass"] > 0


def test_rules_of_prometheus_are_accepted(cluster, tools):
    install(cluster, tools, PROMETHEUS_OPERATOR)
    objects = [
        it
        for it in yaml.safe_load_all(rendered(KUEUE, "monitoring").text)
        if it["metadata"].get("namespace") == "monitoring"
    ]
    assert [it["kind"] for it in objects] == ["ConfigMap", "PrometheusRule"]
    again = cluster.apply_twice("---\n".join(map(yaml.safe_dump, objects)))
    assert (again.refused, again.changed, again.warnings) == ([], [], [])
