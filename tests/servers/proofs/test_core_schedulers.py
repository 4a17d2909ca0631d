"""Two schedulers that assign the same GPUs."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape
from tests.servers.pages import bad, good
from tests.servers.proofs.examples import add_nodes, documents
from tests.servers.workloads import Ask, pod

NOTEBOOKS, TRIES = 32, 6
"""The two race, even so: who is late may still see in time what the other did."""


def test_two_schedulers_one_pool(cluster: Cluster) -> None:
    """kube-scheduler looks away while Volcano fills the node: more than 8 GPUs of 8."""
    rule = "two-schedulers-one-pool"
    cluster.add_nodes(Shape(labels={"pool": "h100"}), 1, prefix="h100")
    cluster.add_nodes(Shape(gpus=NOTEBOOKS, labels={"pool": "t4"}), 1, prefix="t4")
    for _ in range(TRIES):
        used = _placed(cluster, bad(rule))
        assert used["t4-0"] == 0
        if used["h100-0"] > 8:
            break
    assert used["h100-0"] > 8
    assert _placed(cluster, good(rule)) == {"h100-0": 8, "t4-0": NOTEBOOKS}


def _placed(cluster: Cluster, text: str) -> dict[str, int]:
    """GPUs in use on each node, when both schedulers have had their pods."""
    training, notebook = documents(text)
    names = [f"notebook-{i}" for i in range(NOTEBOOKS)]
    with _paused(cluster, "kube-scheduler"):
        cluster.create(
            *({**notebook, "metadata": {**notebook["metadata"], "name": name}} for name in names)
        )
        cluster.create(training)
        cluster.becomes("Volcano's", cluster.bound, 8)
    told = lambda: [it["status"].get("conditions") for it in cluster.pods("vision")]
    cluster.until("kube-scheduler's", lambda: all(told()))
    used = cluster.placement()
    cluster.delete("batch/v1", "Job", "training", "vision")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: cluster.delete("v1", "Pod", name, "vision"), names))
    cluster.becomes("gone", lambda: cluster.pods("vision"), [])
    return used


def test_a_toleration_without_a_selector(cluster: Cluster) -> None:
    """Pods that tolerate the taints of both pools fill the node of Volcano's pool."""
    rule = "two-schedulers-one-pool"
    add_nodes(cluster, bad(rule, 1))
    for text, shared in ((bad(rule, 1), True), (good(rule, 1), False)):
        [notebook] = [it for it in documents(text) if it["kind"] == "Pod"]
        name = "wide" if shared else "narrow"
        names = [f"{name}-{i}" for i in range(8)]
        cluster.create(
            *({**notebook, "metadata": {**notebook["metadata"], "name": name}} for name in names)
        )
        cluster.becomes("bound", cluster.bound, 8)
        assert bool(cluster.placement().get("h100-0-0")) is shared, cluster.placement()
        for name in names:
            cluster.delete("v1", "Pod", name, "vision")
        cluster.becomes("gone", lambda: cluster.pods("vision"), [])


@contextmanager
def _paused(cluster: Cluster, name: str) -> Iterator[None]:
    """Pauses one of the servers."""
    pid = cluster.bench.processes[name].pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_config_file_missing(cluster: Cluster, tmp_path: Path) -> None:
    """kube-scheduler exits: it does not find the file. With the key of the ConfigMap, it reads the file."""
    rule = "config-file-missing"
    program = cluster.bench.built["kubernetes"].binary("kube-scheduler")
    said = {}
    for name, text in (("bad", bad(rule)), ("good", good(rule))):
        config, deployment = documents(text)
        [container] = deployment["spec"]["template"]["spec"]["containers"]
        [mount] = container["volumeMounts"]
        folder = tmp_path / name / mount["mountPath"].strip("/")
        folder.mkdir(parents=True)
        for key, content in config["data"].items():
            (folder / key).write_text(content, "utf-8")
        [flag] = (it for it in container["command"] if it.startswith("--config="))
        own = flag.replace("=", f"={tmp_path / name}", 1)
        done = subprocess.run(
            [program, own], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode != 0  # the good one has no cluster
        said[name] = "no such file or directory" in done.stderr + done.stdout
    assert said == {"bad": True, "good": False}


def test_scheduler_lease_shared(cluster: Cluster) -> None:
    """Beside a scheduler that holds its lease, the page's scheduler binds its Pod only with another one."""
    rule = "scheduler-lease-shared"
    cluster.add_nodes(Shape(), 1)
    for text, bound in ((bad(rule), 0), (good(rule), 1)):
        second, made = documents(text)
        main = {**documents(bad(rule))[0], "profiles": [{"schedulerName": "main"}]}
        with cluster.kube_scheduler(yaml.safe_dump(main)):
            first = pod("first", "others", Ask(gpus=1, scheduler="main"))
            cluster.create(first)
            cluster.becomes("the leader", lambda: cluster.bound("others"), 1)
            with cluster.kube_scheduler(yaml.safe_dump(second)):
                cluster.create(made)
                cluster.becomes("its pod", lambda: len(_on_nodes(cluster)), bound)
                cluster.stays("its pod", lambda: len(_on_nodes(cluster)), bound, for_s=3)
        for it in (made, first):
            cluster.delete("v1", "Pod", it["metadata"]["name"], it["metadata"]["namespace"])
        cluster.becomes("gone", lambda: cluster.pods("vision") + cluster.pods("others"), [])
        cluster.delete("coordination.k8s.io/v1", "Lease", "kube-scheduler", "kube-system")


def _on_nodes(cluster: Cluster) -> list[str]:
    """The nodes of the pods of the page."""
    nodes = (it["spec"].get("nodeName") for it in cluster.pods("vision"))
    return [it for it in nodes if it]
