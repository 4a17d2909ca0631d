"""The nightly audit under examples/, with its own user and permissions."""

import json
import shutil

import yaml
from click.testing import CliRunner

from policygen.cli.main import cli
from tests.servers.bench import CONTEXT
from tests.servers.draws import example
from tests.servers.installed import deployments
from tests.servers.kueue import CONFIGURATION
from tests.test_nightly import FOLDER, NIGHTLY

TOKEN_REQUEST = {
    "apiVersion": "authentication.k8s.io/v1",
    "kind": "TokenRequest",
    "spec": {"expirationSeconds": 600},
}


def identity(cluster, bench, path):
    """A kubeconfig of the ServiceAccount, as its token is mounted into the pod."""
    where = "/api/v1/namespaces/policygen/serviceaccounts/audit/token"
    answer = cluster.client.request("POST", where, TOKEN_REQUEST)
    assert answer.ok, answer.message
    config = yaml.safe_load(bench.kubeconfig.read_text("utf-8"))
    config["users"][0]["user"] = {"token": answer.body["status"]["token"]}
    path.write_text(yaml.safe_dump(config), "utf-8")
    return path


def arguments():
    """What the container is given beside `lint --in-cluster`."""
    jobs = (it for it in yaml.safe_load_all(NIGHTLY.read_text("utf-8")) if it["kind"] == "CronJob")
    (container,) = next(jobs)["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["args"][:2] == ["lint", "--in-cluster"]
    return container["args"][2:]


def mounted(folder):
    """The spec as kubelet mounts a ConfigMap: every file is a link into a hidden folder."""
    hidden = folder / "..2026_11_21"
    hidden.mkdir(parents=True)
    (folder / "..data").symlink_to(hidden.name)
    for path in FOLDER.glob("*.yaml"):
        shutil.copy(path, hidden)
        (folder / path.name).symlink_to(f"..data/{path.name}")
    return folder


def test_it_reads_all_that_it_needs_and_may_do_nothing_else(cluster, bench, built, tmp_path):
    out = example("kueue-team-tree", built["kueue"].asset(CONFIGURATION))
    cluster.apply(out.text)
    for pool in out.pools.values():
        cluster.add_nodes(pool, labels={"topology.kubernetes.io/zone": "a"})
    cluster.create(*deployments())
    cluster.apply(NIGHTLY.read_text("utf-8"))
    kubeconfig = identity(cluster, bench, tmp_path / "kubeconfig")
    command = ["--context", CONTEXT, "--kubeconfig", str(kubeconfig)]
    command += [
        str(mounted(tmp_path / "spec")) if word == "/spec" else word for word in arguments()
    ]
    done = CliRunner().invoke(cli, ["lint", "-f", "json", *command])
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert report["complete"], report["findings"]
    assert [it for it in report["findings"] if it["severity"] == "error"] == []
    assert done.exit_code == 0

    cluster.delete("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "policygen-audit")
    done = CliRunner().invoke(cli, ["lint", "-f", "json", *command])
    assert done.exit_code == 3
