"""Fixtures of tests that ask real servers: one control plane for the session, clean for each test.

    def test_the_last_gpu_can_be_used(cluster):
        out = rendered(SPEC)                                  # through policygen's app layer
        cluster.apply(out.text)                               # server-side apply, strict, in order
        cluster.add_nodes(out.pools["a100"])                  # fake nodes of the spec's pool
        ask = Ask(gpus=2)
        cluster.create(*(job(f"j{i}", "nlp", ask, queue="a100") for i in range(9)))
        cluster.becomes("admitted", lambda: len(cluster.admitted("nlp")), 4)
        cluster.stays("GPUs in use", lambda: cluster.bound("nlp"), 8)

`rendered` is in rendering.py, `Ask`, `job`, `pod`, `deployment`, `vcjob` in workloads.py, what
`cluster` can do in cluster.py: `with cluster.kube_scheduler(config)`, `cluster.kueue(config)` and
`cluster.volcano(config)` run another configuration for a while. After a test everything that came
since the start is deleted, and the next one begins when it is gone.

Without built binaries these tests are skipped; with POLICYGEN_CONTROLPLANE=required they fail.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
import yaml

from tests import programs
from tests.servers.bench import Bench
from tests.servers.build import Built, located
from tests.servers.cluster import Cluster
from tests.servers.process import ServerError
from tests.servers.slate import Slate
from tests.servers.upstream import KUBERNETES_VARIABLE, TOOLS, Upstream, control_plane

REQUIRED = "POLICYGEN_CONTROLPLANE"
FAILED = pytest.StashKey[bool]()
LOGS = pytest.StashKey[Path]()


def pytest_collection_modifyitems(items):
    """Real controllers have races, so a test that uses the bench may run twice; it is then a rerun.

    The control plane is cleaned before the second run. A real fault fails twice.
    """
    for item in items:
        if "bench" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.failed and "bench" in getattr(item, "fixturenames", ()):
        item.config.stash[FAILED] = True
        if logs := item.config.stash.get(LOGS, None):
            report.sections.append(("control plane", f"its logs will be kept in {logs}"))
    return report


@pytest.fixture(scope="session")
def built() -> dict[str, Built]:
    """The binaries of every upstream by name; `matrix` chooses the release of Kubernetes."""
    return _present(control_plane(os.environ.get(KUBERNETES_VARIABLE, "")))


@pytest.fixture(scope="session")
def tools() -> dict[str, Built]:
    """The programs and CRDs of other tools, by name."""
    return _present(TOOLS)


def _present(upstreams: Iterable[Upstream]) -> dict[str, Built]:
    """Upstreams by name; skips the test, or fails it if they are required, if a file is missing."""
    found = {upstream.name: located(upstream) for upstream in upstreams}
    if missing := [name for built in found.values() for name in built.missing]:
        said = (
            f"{len(missing)} files not built ({missing[0]}, ...); "
            "`python -m tests.servers build` makes them, with Go 1.26 or later"
        )
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(said, pytrace=False)
        pytest.skip(said)
    return found


@pytest.fixture(scope="session")
def bench(built, request) -> Iterator[Bench]:
    """Every server, running; its logs stay if a test failed."""
    with Bench(built) as running:
        request.config.stash[LOGS] = running.state / "logs"
        yield running
        running.keep_logs = request.config.stash.get(FAILED, False)


@pytest.fixture(scope="session")
def slate(bench) -> Iterator[Slate]:
    made = Slate(bench.client, bench.etcd)
    yield made
    made.close()


@pytest.fixture
def cluster(bench, slate) -> Iterator[Cluster]:
    """A clean control plane. If a server dies, the test that was running fails."""
    yield Cluster(bench)
    dead = bench.dead()
    for process in dead:
        bench.restart(process)
    try:
        slate.clean()
    finally:
        if dead:
            names = ", ".join(process.name for process in dead)
            raise ServerError(f"{names} died during the test; logs in {dead[0].log.parent}")


@pytest.fixture
def shell(bench, tools, tmp_path) -> Callable[[str], tuple[int, str]]:
    """Run a command in a shell whose folder the next command keeps: exit code and output.

    It has policygen, kubectl and the context `prod`, and begins in the folder `policygen`.
    """
    folder = programs.policygen(tmp_path / "bin")
    (folder / "kubectl").symlink_to(tools["kubectl"].binary("kubectl"))
    access = yaml.safe_load(bench.kubeconfig.read_text("utf-8"))
    access["contexts"][0]["name"] = access["current-context"] = "prod"
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(access))
    here = [tmp_path / "policygen"]
    here[0].mkdir()
    who = {"NAME": "a", "EMAIL": "a@example.com"}
    environment = {
        **os.environ,
        **{f"GIT_{it}_{key}": text for it in ("AUTHOR", "COMMITTER") for key, text in who.items()},
        "PATH": f"{folder}:{os.environ['PATH']}",
        "KUBECONFIG": str(tmp_path / "kubeconfig"),
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
    }

    def run(command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", f"{command}\ncode=$?; pwd > {tmp_path}/here; exit $code"],
            cwd=here[0],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        here[0] = Path((tmp_path / "here").read_text("utf-8").strip())
        return done.returncode, done.stdout

    return run
