"""`policygen lint --context` on the real API server: no false findings, read-only, no false passes."""

import gzip
import io
import json
import re
import stat
import subprocess
import sys
import time
from functools import partial

import pytest
import yaml
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.client import snapshot_file as snapshots
from tests.servers import kueue, volcano
from tests.servers.bench import CONTEXT, TOKEN
from tests.servers.budget import budget
from tests.servers.client import MERGE, Client
from tests.servers.cluster import SCHEDULING
from tests.servers.draws import EXAMPLES, example
from tests.servers.installed import deployments
from tests.servers.nodes import Shape
from tests.servers.proxy import Fault, Proxy
from tests.servers.workloads import Ask, job, vcjob

RBAC = "rbac.authorization.k8s.io/v1"
REVIEWS = "authorization.k8s.io/v1"


@pytest.fixture
def proxy(bench, cluster):  # noqa: ARG001 - a clean one
    with Proxy(bench.server, bench.ca).running() as running:
        yield running


@pytest.fixture
def policygen(proxy, tmp_path):
    """Run a command as the admin, through the proxy: its exit code, output and findings."""
    kubeconfig = proxy.kubeconfig(tmp_path / "kubeconfig", {"token": TOKEN})

    def run(command, *arguments, kubeconfig=kubeconfig):
        options = [command, *map(str, arguments)]
        options += ["--kubeconfig", str(kubeconfig)]
        if command == "lint":
            options += ["-f", "json"]
        done = CliRunner().invoke(cli, options)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        report = json.loads(done.stdout) if command == "lint" else done.output
        return done.exit_code, report

    return run


def verdicts(report, verdict):
    return {each["rule"]: each["reason"] for each in report["rules"] if each["verdict"] == verdict}


def faults(report):
    """What is wrong by an error or warning about the cluster."""
    return [
        (it["rule"], it["object"], it["message"])
        for it in report["findings"]
        if it["cluster"] and it["severity"] != "info"
    ]


@pytest.fixture(scope="session")
def examples(built):
    base = built["kueue"].asset(kueue.CONFIGURATION)
    return {name: example(name, base) for name in EXAMPLES}


def apply_example(cluster, out):
    """An example as a cluster has it: applied, with its nodes, namespaces and controllers."""
    cluster.apply(out.text)
    for pool in out.pools.values():
        cluster.add_nodes(pool, labels={"topology.kubernetes.io/zone": "a"})
    cluster.add_nodes(Shape(gpus=0), prefix="control")
    cluster.create(*deployments())


def running(cluster, component):
    """The release of the API server, which `matrix` chooses; of other components there is one."""
    if component != "kubernetes":
        return ""
    version = cluster.client.get("/version").body
    return f"{version['major']}.{version['minor']}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_applied_example_is_clean_and_read_in_full(cluster, examples, policygen, tmp_path, name):
    out = examples[name]
    apply_example(cluster, out)
    spec = tmp_path / "spec.yaml"
    spec.write_text(out.spec, "utf-8")
    code, report = policygen("lint", "--context", "bench", spec)
    targets = {"kubernetes": "1.36"}
    if name in {"rings", "serving-slices"}:
        targets = {"kueue": "0.18", "kubernetes": "1.35"}
    others = {key: version for key, version in targets.items() if version != running(cluster, key)}
    of_versions = [it for it in faults(report) if it[0] == "version-differs-from-target"]
    assert [it for it in faults(report) if it not in of_versions] == []
    told = [message for *_, message in of_versions]
    for component, version in others.items():
        assert [it for it in told if f" is {component} " in it and f"target is {version};" in it]
    assert len(of_versions) == len(others)
    assert (code, report["complete"]) == (0, True)
    missing = verdicts(report, "not evaluated")
    # Only what such a cluster does not have: a controller's file of a scheduler that is not used.
    assert all(
        re.fullmatch(r"the input lacks: .* (Configuration|configuration)(; .*)?", why)
        for why in missing.values()
    ), missing


def test_only_lists_are_requested_and_never_a_secret(cluster, examples, policygen, proxy):
    apply_example(cluster, examples["three-schedulers"])
    code, _ = policygen("lint", "--context", "bench")
    assert code in {0, 1}
    assert {each.method for each in proxy.asked} == {"GET"}
    paths = {each.path for each in proxy.asked}
    assert paths & {"/api", "/apis", "/version"} == {"/api", "/apis", "/version"}
    lists = {path for path in paths if path.count("/") > 1}
    assert not [path for path in paths if "secret" in path]
    assert "/api/v1/pods" in lists
    for each in proxy.asked:
        if each.path == "/api/v1/configmaps":
            assert each.query["fieldSelector"].startswith("metadata.name=")


def test_a_preflight_is_the_only_thing_that_is_posted(policygen, proxy):
    code, said = policygen("rbac", "--preflight", "--context", "bench")
    assert (code, said) == (0, "")
    posted = {each.path for each in proxy.asked if each.method != "GET"}
    assert posted == {"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"}


def token(cluster, name, role):
    """A service account's token with the permissions of a ClusterRole, once they are in effect."""
    cluster.create(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "lint"}},
        {**role, "metadata": {"name": name}},
        {
            "apiVersion": RBAC,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": RBAC.split("/", maxsplit=1)[0], "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "lint"}],
        },
    )  # fmt: skip
    path = f"/api/v1/namespaces/lint/serviceaccounts/{name}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = cluster.client.request("POST", path, request)
    assert answer.ok, answer.message
    issued = answer.body["status"]["token"]
    # Its cache has a role as a whole: who is allowed one part of it is allowed all.
    (group,), (resource, *_) = (role["rules"][0][key] for key in ("apiGroups", "resources"))
    (only, *_) = role["rules"][0].get("resourceNames", [""])
    attributes = {"verb": "list", "group": group, "resource": resource, "name": only}
    review = {
        "apiVersion": REVIEWS,
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    client = Client(cluster.client.server, issued, cluster.bench.ca.read_text("ascii"))
    asked = partial(client.request, "POST", f"/apis/{REVIEWS}/selfsubjectaccessreviews", review)
    cluster.until("the role is known", lambda: asked().body["status"]["allowed"])
    client.close()
    return issued


def printed_role(policygen, *spec):
    code, said = policygen("rbac", *spec)
    assert code == 0
    return yaml.safe_load(said)


def split(role):
    """The permissions of a role one by one: group, resource and, if the role names it, an object."""
    for rule in role["rules"]:
        for resource in rule["resources"]:
            for name in rule.get("resourceNames", [None]):
                yield rule["apiGroups"][0], resource, name


def joined(permissions):
    return {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "rules": [
            {
                "apiGroups": [group],
                "resources": [resource],
                "verbs": ["list"],
                **({"resourceNames": [name]} if name else {}),
            }
            for group, resource, name in permissions
        ],
    }


def test_the_printed_role_is_enough_and_nothing_of_it_is_too_much(
    cluster, examples, policygen, proxy, tmp_path
):
    """With all of it everything is read; without any one part the gap is named, and exit is 3."""
    out = examples["kueue-team-tree"]
    apply_example(cluster, out)
    spec = tmp_path / "spec.yaml"
    spec.write_text(out.spec, "utf-8")
    permissions = list(split(printed_role(policygen, spec)))

    def linted(name, some):
        user = {"token": token(cluster, name, joined(some))}
        kubeconfig = proxy.kubeconfig(tmp_path / name, user)
        return policygen("lint", "--context", "bench", spec, kubeconfig=kubeconfig)

    code, whole = linted("whole", permissions)
    told = [it for it in faults(whole) if it[0] != "version-differs-from-target"]
    assert (code, whole["complete"], told) == (0, True, [])
    assert len(permissions) > 30
    listed = {each.path.rpartition("/")[2] for each in proxy.asked}
    for number, permission in enumerate(permissions):
        _, resource, name = permission
        some = [each for each in permissions if each != permission]
        code, report = linted(f"lacks-{number}", some)
        if resource not in listed:
            assert code == 0, permission  # not served here, so nothing is missed
            continue
        gaps = [it["message"] for it in report["findings"] if it["rule"] == "not-read"]
        assert (code, report["complete"]) == (3, False), permission
        assert len(gaps) == 1, permission
        assert resource in gaps[0], gaps
        assert "forbidden" in gaps[0], gaps
        assert name is None or name in gaps[0], gaps
        assert verdicts(report, "not evaluated"), permission
        # What was decided and found with all of it is still what it was, where it was decided.
        before = {each["rule"]: each["verdict"] for each in whole["rules"]}
        for rule, verdict in ((each["rule"], each["verdict"]) for each in report["rules"]):
            assert verdict in {before[rule], "not evaluated"}, (permission, rule)


def test_no_finding_is_lost_that_can_still_be_decided(cluster, policygen, proxy, tmp_path):
    """A LocalQueue to nowhere is found without the right to read pods."""
    cluster.create(
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "LocalQueue",
            "metadata": {"name": "q", "namespace": "team"},
            "spec": {"clusterQueue": "nowhere"},
        }
    )
    some = [each for each in split(printed_role(policygen)) if each[1] != "pods"]
    kubeconfig = proxy.kubeconfig(
        tmp_path / "some", {"token": token(cluster, "some", joined(some))}
    )
    code, report = policygen("lint", "--context", "bench", kubeconfig=kubeconfig)
    assert code == 3
    assert ("local-queue-without-cluster-queue", "LocalQueue team/q") in {
        each[:2] for each in faults(report)
    }


PODS = "/api/v1/pods"
BROKEN = "kubeflow.org"


def only(path, fault, times=99):
    return lambda asked: fault if asked.path == path and asked.number < times else None


GONE = json.dumps({"kind": "Status", "message": "too old resource version", "code": 410}).encode()


@pytest.mark.parametrize(
    "fault, code, said",
    [
        (only(PODS, Fault(cut_at=20), times=2), 0, ""),
        (only(PODS, Fault(cut_at=20)), 3, "truncated"),
        (only(PODS, Fault(429, {"retry-after": "1"}), times=1), 0, ""),
        (only(PODS, Fault(429, {"retry-after": "9999"})), 3, "429"),
        (only(PODS, Fault(500), times=3), 0, ""),
        (only(PODS, Fault(503)), 3, "503"),
        (only(PODS, Fault(410, body=GONE), times=2), 0, ""),
        (only(PODS, Fault(410, body=GONE)), 3, "list expired"),
        (only(PODS, Fault(content_type="text/html"), times=9), 3, "text/html"),
        (only(PODS, Fault(drip_s=0.2)), 3, "slowly|not whole|no time"),
        (only(PODS, Fault(200, body=b'{"kind": "Status"}')), 3, "not a list"),
        (only(PODS, Fault(200, body=b'{"metadata": {}, "items": [')), 3, "not a list"),
        (only(PODS, Fault(302, {"location": "http://127.0.0.1:1/"})), 3, "302"),
        (only(PODS, Fault(404)), 3, "404"),
        (only("/apis", Fault(500)), 3, "the cluster at .* could not be read"),
        (only("/api", Fault(content_type="text/html")), 3, "the cluster at .* could not be read"),
        (only("/version", Fault(500)), 3, "version of the server could not be read .*500"),
    ],
)
def test_faults_on_the_way_are_survived_or_named(
    cluster, policygen, proxy, monkeypatch, fault, code, said
):
    """No crash, no false clean, no hang."""
    cluster.add_nodes(Shape(gpus=8))
    cluster.create(job("j", "team", Ask(gpus=1)))
    cluster.until("its pod", lambda: cluster.pods("team"))
    monkeypatch.setattr("policygen.client.requests.CALL_S", 4.0)
    proxy.breaks = fault
    began = time.monotonic()
    found, report = policygen("lint", "--context", "bench", "--timeout", "20")
    assert time.monotonic() - began < budget(25)
    assert (found, report["complete"]) == (code, code == 0), faults(report)
    if said:
        told = [it for it in faults(report) if it[0] in {"not-read", "cluster-unreadable"}]
        assert re.search(said, " ".join(it[2] for it in told)), told


def test_a_list_that_expires_between_pages_is_read_anew(cluster, policygen, proxy, monkeypatch):
    monkeypatch.setattr("policygen.client.pages.LIMIT", 3)
    for number in range(8):
        cluster.namespace(f"n{number}")
    path = "/api/v1/namespaces"
    proxy.breaks = lambda asked: (
        Fault(410, body=GONE) if asked.path == path and asked.number == 2 else None
    )
    code, report = policygen("lint", "--context", "bench")
    assert (code, report["complete"]) == (0, True)
    asked = [each for each in proxy.asked if each.path == path]
    assert [("continue" in each.query) for each in asked[:4]] == [False, True, True, False]


def test_a_connection_that_is_reset_inside_a_page_is_made_again(policygen, proxy):
    proxy.breaks = only("/api/v1/namespaces", Fault(cut_at=200), times=1)
    code, report = policygen("lint", "--context", "bench")
    assert (code, report["complete"]) == (0, True)


def test_an_api_group_that_is_known_and_broken_is_a_gap(cluster, policygen):
    """An aggregated API whose server is not there: its kinds are in the dark, and not absent."""
    cluster.create(
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"v1.{BROKEN}"},
            "spec": {
                "group": BROKEN,
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 15,
                "insecureSkipTLSVerify": True,
                "service": {"name": "gone", "namespace": "default"},
            },
        }
    )

    def gaps():
        _, report = policygen("lint", "--context", "bench")
        return [it["message"] for it in report["findings"] if it["rule"] == "not-read"]

    found = cluster.until("the group is known", gaps)
    assert any("PyTorchJob" in each and "does not answer" in each for each in found)
    code, _ = policygen("lint", "--context", "bench")
    assert code == 3


def test_an_expired_token_is_renewed_by_its_plugin(proxy, policygen, tmp_path):
    """The server does not know the first token and answers 401; the plugin is run again."""
    runs = tmp_path / "runs"
    plugin = tmp_path / "plugin.py"
    plugin.write_text(
        f"""#!{sys.executable}
import json, pathlib
runs = pathlib.Path({str(runs)!r})
first = not runs.exists()
runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
print(json.dumps({{
    "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
    "status": {{"token": "expired" if first else {TOKEN!r}}},
}}))
""",
        "utf-8",
    )
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(plugin),
            "interactiveMode": "Never",
        }
    }
    kubeconfig = proxy.kubeconfig(tmp_path / "exec", user)
    code, report = policygen("lint", "--context", "bench", kubeconfig=kubeconfig)
    assert (code, report["complete"]) == (0, True)
    assert runs.read_text() == "xx"


def test_an_unknown_user_reads_nothing_and_gets_a_message(proxy, policygen, tmp_path):
    kubeconfig = proxy.kubeconfig(tmp_path / "nobody", {"token": "nobody"})
    code, report = policygen("lint", "--context", "bench", kubeconfig=kubeconfig)
    assert code == 3
    assert "401" in " ".join(it[2] for it in faults(report))


def test_a_missing_server_is_reported(policygen, proxy, tmp_path):
    kubeconfig = proxy.kubeconfig(tmp_path / "gone", {"token": TOKEN})
    kubeconfig.write_text(kubeconfig.read_text("utf-8").replace(proxy.url, "http://127.0.0.1:9"))
    code, report = policygen("lint", "--context", "bench", kubeconfig=kubeconfig)
    assert code == 3
    assert "the cluster at http://127.0.0.1:9 could not be read" in faults(report)[0][2]


def test_an_annotation_on_an_object_waives_what_the_spec_allows(cluster, policygen, tmp_path):
    rule = "local-queue-without-cluster-queue"
    spec = tmp_path / "spec.yaml"
    platform = {
        "apiVersion": "policygen.dev/v1alpha1",
        "kind": "Platform",
        "metadata": {"name": "x"},
        "spec": {"lint": {"annotations": [rule]}},
    }
    spec.write_text(yaml.safe_dump(platform), "utf-8")
    cluster.create(
        *(
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "LocalQueue",
                "metadata": {"name": name, "namespace": "team", "annotations": annotations},
                "spec": {"clusterQueue": "nowhere"},
            }
            for name, annotations in {
                "waived": {f"policygen.dev/waive-{rule}": "until 2099-12-31: comes on Monday"},
                "not": {},
            }.items()
        )
    )
    code, report = policygen("lint", "--context", "bench", "--rule", rule, spec)
    assert [it[:2] for it in faults(report)] == [(rule, "LocalQueue team/not")]
    assert (code, report["waived"]) == (1, 1)


def test_a_fresh_installation_has_no_fault_of_its_own(cluster, built, policygen):
    """Kueue and Volcano with the files of their releases, before any queue exists."""
    files = {
        ("kueue-system", "kueue-manager-config"): built["kueue"].asset(kueue.CONFIGURATION),
        ("volcano-system", "volcano-scheduler-configmap"): built["volcano"].asset(
            volcano.CONFIGURATION
        ),
    }
    cluster.create(
        *deployments(),
        *(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": namespace},
                "data": {path.name: path.read_text("utf-8")},
            }
            for (namespace, name), path in files.items()
        ),
    )
    cluster.add_nodes(Shape(gpus=8))
    _, report = policygen("lint", "--context", "bench")
    # The only finding is true: Volcano's file packs cpu and memory, but not GPUs.
    assert [it[0] for it in faults(report)] == ["binpack-without-gpu"]
    judged = verdicts(report, "pass")
    assert {"volcano-plugin-unknown", "kueue-configuration-key-unknown"} <= set(judged)


def test_runtime_classes_of_the_cluster_count(cluster, policygen, tmp_path):
    """One adds a toleration, without which no node takes its pods; one selects missing nodes."""
    toleration = {"key": "sandbox", "operator": "Exists"}
    for name, selector in (("kata", {"runtime": "kata"}), ("gvisor", {"runtime": "gvisor"})):
        cluster.create(
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": name},
                "handler": name,
                "scheduling": {"nodeSelector": selector, "tolerations": [toleration]},
            },
            sandboxed(name),
        )
    taint = {"key": "sandbox", "value": "yes", "effect": "NoSchedule"}
    cluster.add_nodes(Shape(gpus=8, labels={"runtime": "kata"}, taints=[taint]))
    rule = ("--rule", "pod-fits-no-node")
    _, live = policygen("lint", "--context", "bench", *rule)
    ((_, name, message),) = faults(live)
    assert name == "Job team/gvisor"
    assert "have runtime=kata, but the RuntimeClass requires gvisor" in message
    file = tmp_path / "bench.snapshot"
    for options in ((), ("--redact-names",)):
        assert policygen("snapshot", "--context", "bench", "-o", file, *options) == (0, "")
        lint = ["lint", "--snapshot", str(file), "-f", "json", *rule]
        of_file = json.loads(CliRunner().invoke(cli, lint).stdout)
        assert len(faults(of_file)) == 1, options
    for name in ("kata", "gvisor"):
        cluster.delete("node.k8s.io/v1", "RuntimeClass", name)


def sandboxed(name):
    """A Job whose pods have a RuntimeClass of the same name."""
    made = job(name, "team", Ask(gpus=1))
    made["spec"]["template"]["spec"]["runtimeClassName"] = name
    return made


def test_objects_that_volcano_creates_have_no_fault(cluster, examples, policygen):
    """Its controllers create pod groups, with fields that users should not set."""
    apply_example(cluster, examples["volcano-training"])
    ask, home = Ask(gpus=8), "foundation-text"
    cluster.create(vcjob("train", home, ask, queue="text.h100"))
    cluster.until("its pod", lambda: cluster.pods(home))
    groups = cluster.objects(SCHEDULING, "PodGroup", home)
    written = {name for it in groups for name in it["spec"].get("minResources", {})}
    assert "requests.nvidia.com/gpu" in written
    _, report = policygen("lint", "--context", "bench")
    assert [
        it for it in faults(report) if it[1].startswith("PodGroup foundation-text/train-")
    ] == []


def test_gates_on_a_command_line_are_judged(cluster, policygen):
    kueue_manager, *_ = deployments()
    (container,) = kueue_manager["spec"]["template"]["spec"]["containers"]
    container["args"] = ["--config=/hidden.yaml", "--feature-gates=ConcurrentAdmision=true"]
    cluster.create(kueue_manager)
    code, report = policygen("lint", "--context", "bench", "--rule", "feature-gate-unknown")
    assert code == 1
    ((rule, name, message),) = faults(report)
    assert (rule, name) == (
        "feature-gate-unknown",
        "Deployment kueue-system/kueue-controller-manager",
    )
    assert 'did you mean "ConcurrentAdmission"?' in message


def test_an_orphaned_config_map_is_found_while_a_controller_mounts_it(
    cluster, examples, policygen, proxy, tmp_path
):
    """Unmounted ConfigMaps are not requested: they have no effect, and may be private."""
    out = examples["kueue-team-tree"]
    cluster.apply(out.text)
    spec = tmp_path / "spec.yaml"
    spec.write_text(out.spec, "utf-8")
    labels = yaml.safe_load(out.text.split("---")[1])["metadata"]["labels"]
    scheduler = {
        "name": "scheduler",
        "image": "registry.k8s.io/kube-scheduler:v1.36.3",
    }
    volume = {"name": "config", "configMap": {"name": "old-profiles"}}
    cluster.create(
        *(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": "schedulers", "labels": labels},
            }
            for name in ("old-profiles", "nobodys")
        ),
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "old", "namespace": "schedulers"},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": {"app": "old"}},
                "template": {
                    "metadata": {"labels": {"app": "old"}},
                    "spec": {"containers": [scheduler], "volumes": [volume]},
                },
            },
        },
    )
    _, report = policygen("lint", "--context", "bench", spec)
    orphans = {it[1] for it in faults(report) if it[0] == "object-orphaned"}
    assert orphans == {"ConfigMap schedulers/old-profiles"}
    asked = [each for each in proxy.asked if each.path.endswith("/configmaps")]
    assert all("fieldSelector" in each.query for each in asked)


def test_a_snapshot_is_judged_as_the_cluster_is(cluster, examples, policygen, tmp_path):
    apply_example(cluster, examples["volcano-training"])
    cluster.create(job("stray", "robotics", Ask(gpus=3), queue="nowhere"))
    file = tmp_path / "bench.snapshot"

    def differences():
        """Of a snapshot and the cluster, which controllers change until they are done."""
        assert policygen("snapshot", "--context", "bench", "-o", file) == (0, "")
        options = ["lint", "--snapshot", str(file), "-f", "json"]
        of_file = json.loads(CliRunner().invoke(cli, options).stdout)
        _, live = policygen("lint", "--context", "bench")
        assert of_file["findings"]
        both = [[*it["findings"], *it["rules"]] for it in (of_file, live)]
        return [it for one, other in (both, reversed(both)) for it in one if it not in other]

    cluster.becomes("the differences", differences, [])


def test_a_snapshot_goes_to_standard_output(proxy, tmp_path):
    kubeconfig = proxy.kubeconfig(tmp_path / "kubeconfig", {"token": TOKEN})
    arguments = ["--context", "bench", "--kubeconfig", str(kubeconfig), "-o", "-"]
    done = CliRunner().invoke(cli, ["snapshot", *arguments])
    assert snapshots.read(io.BytesIO(done.stdout_bytes)).seen.context == "bench"


def test_a_redacted_snapshot_breaks_the_same_rules(cluster, examples, policygen, tmp_path):
    apply_example(cluster, examples["volcano-training"])
    cluster.create(job("stray", "robotics", Ask(gpus=3), queue="nowhere"))
    file = tmp_path / "shared.snapshot"
    assert policygen("snapshot", "--context", "bench", "-o", file, "--redact-names") == (0, "")
    text = gzip.decompress(file.read_bytes()).decode()
    for word in ("robotics", "stray", "nowhere", "foundation", "bench"):
        assert word not in text, word
    done = CliRunner().invoke(cli, ["lint", "--snapshot", str(file), "-f", "json"])
    _, live = policygen("lint", "--context", "bench")
    of_file = json.loads(done.stdout)
    assert sorted(it["rule"] for it in of_file["findings"]) == sorted(
        it["rule"] for it in live["findings"]
    )
    assert of_file["findings"]


def test_two_redacted_snapshots_of_one_key_compare(cluster, examples, policygen, tmp_path):
    """What a vendor gets: which objects changed, by hashes that only the owner can read."""
    cluster.apply(examples["kueue-team-tree"].text)
    key = tmp_path / "bench.names"
    files = [tmp_path / "monday", tmp_path / "tuesday"]
    options = ["--context", "bench", "--redact-names", "--key-file", key]
    assert policygen("snapshot", *options, "-o", files[0]) == (0, "")
    path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/evaluation.a100"
    held = cluster.client.request(
        "PATCH", path, {"spec": {"stopPolicy": "Hold"}}, content_type=MERGE
    )
    assert held.ok, held.message
    cluster.becomes("held", lambda: _active(cluster, path), "False")
    assert policygen("snapshot", *options, "-o", files[1]) == (0, "")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    done = CliRunner().invoke(cli, ["diff", *map(str, files)])
    assert done.exit_code == 1, done.output
    assert "evaluation" not in done.output
    names = json.loads(key.read_text("utf-8"))["names"]
    told = re.findall(r"ClusterQueue (n[0-9a-f]{12})", done.output)
    assert "evaluation.a100" in {names[each] for each in told}
    assert "spec.stopPolicy" in done.output
    code, said = policygen("snapshot", *options[:3], "-o", tmp_path / "other")
    assert (code, said) == (0, "")
    done = CliRunner().invoke(cli, ["diff", str(files[0]), str(tmp_path / "other")])
    assert "the same --key-file" in str(done.exception)


def _active(cluster, path):
    conditions = cluster.client.get(path).body["status"]["conditions"]
    return next(it["status"] for it in conditions if it["type"] == "Active")


def test_a_namespace_is_read_alone(cluster, policygen, proxy):
    cluster.namespace("team")
    code, report = policygen("lint", "--context", "bench", "--namespace", "team")
    assert code == 0
    assert "/api/v1/namespaces/team/pods" in {each.path for each in proxy.asked}
    assert "/api/v1/pods" not in {each.path for each in proxy.asked}
    assert report["complete"]


@pytest.mark.usefixtures("cluster")
def test_in_the_shell(bench):
    """The same as a user runs it."""
    done = subprocess.run(
        [sys.executable, "-m", "policygen", "lint", "--context", CONTEXT, "--kubeconfig", bench.kubeconfig],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"no findings; \d+ objects; \d+ rules", done.stdout)
    assert done.stderr == ""


def test_a_pod_reads_with_its_own_identity(
    cluster, bench, examples, policygen, tmp_path, monkeypatch
):
    """The files and variables that a pod finds, with the printed role."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(examples["kueue-team-tree"].spec, "utf-8")
    cluster.apply(examples["kueue-team-tree"].text)
    role = joined(split(printed_role(policygen, spec)))
    files = {"TOKEN": tmp_path / "token", "CERT": bench.ca}
    files["TOKEN"].write_text(token(cluster, "policygen", role), "utf-8")
    for name, path in files.items():
        variable = f"SERVICE_{name}_FILENAME"
        monkeypatch.setattr(f"kubernetes.config.incluster_config.{variable}", str(path))
    host, _, port = bench.server.removeprefix("https://").partition(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    done = CliRunner().invoke(cli, ["lint", "--in-cluster", "-f", "json"])
    report = json.loads(done.stdout)
    assert (done.exit_code, report["complete"]) == (0, True)
    assert report["objects"] > 0
    path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/evaluation.a100"
    held = cluster.client.request(
        "PATCH", path, {"spec": {"stopPolicy": "Hold"}}, content_type=MERGE
    )
    assert held.ok, held.message
    done = CliRunner().invoke(
        cli, ["lint", "--in-cluster", "--rule", "field-drifted", "-f", "json", str(spec)]
    )
    (it,) = json.loads(done.stdout)["findings"]
    assert it["command"].startswith("kubectl patch clusterqueues."), it
