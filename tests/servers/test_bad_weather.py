"""Failures are reported clearly and at once, and leave no process and no folder behind."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers.bench import PREFIX, Bench, Options, sweep
from tests.servers.budget import budget
from tests.servers.build import CACHE_VARIABLE, Built
from tests.servers.cluster import Cluster
from tests.servers.nodes import Shape
from tests.servers.process import ServerError
from tests.servers.workloads import Ask, deployment

pytestmark = pytest.mark.usefixtures("built")
ROOT = Path(__file__).parents[2]
BARE = Options(parts=frozenset(), kueue_crds=False, volcano_crds=False, autoscaler_crds=False)
"""etcd and the API server."""
COMMAND = [sys.executable, "-m", "tests.servers"]
ONLY_THOSE = [f"--without={part}" for part in ("kueue", "volcano", "kwok")]
GONE_S = 60.0
ENDS_S = 120.0
"""For a program that ends at once on a machine with nothing else to do."""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder of its own for temporary files, here and in programs that we start."""
    folder = tmp_path / "t"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def start(*arguments, **settings):
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **settings,
    )


def brought_up(running):
    """What `up` wrote about itself, once it is up."""
    line = running.stdout.readline()
    assert line.startswith("KUBECONFIG="), running.stderr.read()
    path = Path(line.strip().removeprefix("KUBECONFIG="))
    return json.loads(path.with_name("info.json").read_text("utf-8"))


def is_alive(pid):
    """Whether it runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pids):
    end = time.monotonic() + GONE_S
    while left := [pid for pid in pids if is_alive(pid)]:
        assert time.monotonic() < end, f"still there: {left}"
        time.sleep(0.05)


# --- a port taken, a missing binary ----------------------------------------------------------


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver"])
def test_a_port_that_was_taken_meanwhile_is_named(built, temporary, name):
    bench = Bench(built, BARE)
    with socket.create_server(("127.0.0.1", bench.ports[name])):
        began = time.monotonic()
        with pytest.raises(ServerError) as caught, bench:
            pass
    message = str(caught.value)
    assert message.startswith(f"{name} ended with 1; ")
    assert f"127.0.0.1:{bench.ports[name]}: bind: address already in use" in message
    assert time.monotonic() - began < budget(30)
    assert not any(map(is_alive, [process.pid for process in bench.processes.values()]))
    assert [path.name for path in temporary.iterdir()] == [bench.state.name]
    assert (bench.state / "logs" / f"{name}.log").stat().st_size
    assert not (bench.state / "etcd").exists()  # of the state, only what explains it stays


@pytest.mark.parametrize("name", ["keys", "etcd", "kubernetes"])
def test_a_missing_binary_is_named_with_the_remedy(built, tmp_path, name):
    empty = Built(built[name].upstream, tmp_path / "empty")
    bench = Bench({**built, name: empty}, BARE)
    with pytest.raises(ServerError, match=r"is missing; run `python -m tests\.servers build`"):
        bench.__enter__()
    assert not any(map(is_alive, [process.pid for process in bench.processes.values()]))


def test_without_go_and_binaries_up_reports_it(temporary, tmp_path):
    environment = {**os.environ, CACHE_VARIABLE: str(tmp_path / "cache"), "PATH": "/nowhere"}
    with start("up", env=environment) as running:
        out, said = running.communicate(timeout=ENDS_S)
    assert running.returncode == 1
    assert out == ""
    assert said.startswith("controlplane: keys not built yet, and there is no `go` on PATH: ")
    assert list(temporary.iterdir()) == []


# --- a server that dies ----------------------------------------------------------------------


def test_a_server_that_dies_is_named_instead_of_waited_for(cluster, bench):
    cluster.add_nodes(Shape(gpus=8))
    process = bench.processes["kube-scheduler"]
    os.kill(process.pid, signal.SIGKILL)
    wait_until_gone([process.pid])
    cluster.create(deployment("d", "team", Ask(gpus=1)))
    began = time.monotonic()
    with pytest.raises(ServerError, match=r"kube-scheduler ended with -9; .*kube-scheduler\.log"):
        cluster.becomes("bound", cluster.bound, 1, deadline_s=60)
    assert time.monotonic() - began < budget(5)
    bench.restart(process)
    cluster.becomes("bound", cluster.bound, 1)


def test_an_api_server_that_dies_is_named(built, temporary):
    with Bench(built, BARE) as bench:
        cluster = Cluster(bench)
        cluster.namespace("before")
        process = bench.processes["kube-apiserver"]
        os.kill(process.pid, signal.SIGKILL)
        # Its first thread is gone before the others: it has ended when all of them have.
        end = time.monotonic() + GONE_S
        while process.exit_code is None:
            assert time.monotonic() < end
            time.sleep(0.05)
        with pytest.raises(ServerError, match="kube-apiserver ended with -9"):
            cluster.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}")
    assert list(temporary.iterdir()) == []


def test_up_ends_when_a_server_dies():
    with start("up", *ONLY_THOSE) as running:
        info = brought_up(running)
        os.kill(info["processes"]["kube-scheduler"]["pid"], signal.SIGKILL)
        _, said = running.communicate(timeout=ENDS_S)
    assert running.returncode == 1
    assert "controlplane: kube-scheduler ended with -9; " in said
    wait_until_gone([process["pid"] for process in info["processes"].values()])


# --- Ctrl-C and worse ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_everything_and_removes_the_folder(temporary, name):
    with start("up", *ONLY_THOSE) as running:
        info = brought_up(running)
        running.send_signal(signal.Signals[name])
        running.communicate(timeout=ENDS_S)
    assert running.returncode == 0
    wait_until_gone([process["pid"] for process in info["processes"].values()])
    assert list(temporary.iterdir()) == []


def test_a_signal_during_the_start_ends_everything(temporary):
    with start("up", *ONLY_THOSE) as running:
        end = time.monotonic() + ENDS_S
        while not (logs := list(temporary.glob("*/logs/kube-apiserver.log"))):
            assert time.monotonic() < end
            time.sleep(0.02)
        state = logs[0].parents[1]
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=ENDS_S)
    assert running.returncode == 0
    # A server that began in the moment of the signal is killed by the kernel once its parent is gone.
    wait_until_gone([pid for pid in all_processes() if str(state) in command_of(pid)])


def test_a_killed_parent_takes_its_servers_along_and_the_next_bench_its_folder(temporary):
    with start("up", *ONLY_THOSE) as running:
        info = brought_up(running)
        running.kill()
        running.communicate(timeout=ENDS_S)
    wait_until_gone([process["pid"] for process in info["processes"].values()])
    left = Path(info["state"])
    assert left.is_dir()
    sweep(temporary)
    assert left.is_dir()  # young: it may be of a bench that has only just begun
    os.utime(left, (0, 0))
    sweep(temporary)
    assert list(temporary.iterdir()) == []


def test_a_folder_in_use_or_kept_is_not_swept(built, temporary):
    bench = Bench(built, BARE)
    kept = temporary / f"{PREFIX}kept"
    kept.mkdir()
    for path in (bench.state, kept):
        os.utime(path, (0, 0))
    sweep(temporary)
    assert bench.state.is_dir()
    assert kept.is_dir()
    bench.stop(keep=False)
    assert list(temporary.iterdir()) == [kept]


def all_processes():
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", errors="replace")
    except OSError:
        return ""


# --- building --------------------------------------------------------------------------------


@pytest.fixture
def go():
    if shutil.which("go") is None:
        pytest.skip("no go on PATH")


@pytest.fixture
def own_mounts():
    """A command that runs the rest in a mount namespace of its own."""
    command = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"]), "--"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mount namespaces here")
    return command


@pytest.mark.usefixtures("go")
def test_a_full_disk_at_build_is_reported_and_leaves_no_partial_binary(own_mounts, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    script = (
        f'mount -t tmpfs -o size=1m none "{cache}" && "$@"; code=$?; '
        f'find "{cache}" -type f; exit $code'
    )
    done = subprocess.run(
        [*own_mounts, "sh", "-c", script, "sh", *COMMAND, "build", "keys"],
        env={**os.environ, CACHE_VARIABLE: str(cache)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 1
    assert "controlplane: keys: go exited with 1\n" in done.stderr
    assert "no space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    left = done.stdout.splitlines()
    assert [Path(path).name for path in left] == ["lock"]


@pytest.mark.usefixtures("go")
def test_an_interrupted_build_leaves_no_compiler(tmp_path):
    environment = {
        **os.environ,
        CACHE_VARIABLE: str(tmp_path / "cache"),
        "GOCACHE": str(tmp_path / "gocache"),  # empty, so that it takes its time
    }
    with start("build", "keys", env=environment) as running:
        assert "building keys" in running.stderr.readline()
        compilers = wait_for_compilers(running.pid)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=ENDS_S)
    assert running.returncode == 130
    wait_until_gone(compilers)
    assert not list((tmp_path / "cache").rglob("bin/*"))


def wait_for_compilers(parent):
    """`go` and what it has started, once that is something."""
    end = time.monotonic() + ENDS_S
    while True:
        found = descendants(parent)
        if len(found) > 1:
            return found
        assert time.monotonic() < end
        time.sleep(0.02)


def descendants(pid):
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    except FileNotFoundError:
        return []
    own = [int(child) for child in children]
    return [*own, *(each for child in own for each in descendants(child))]


# --- nothing is written elsewhere ------------------------------------------------------------


def test_all_of_it_starts_where_only_the_temporary_folder_can_be_written(own_mounts, tmp_path):
    folder = tmp_path / "t"
    folder.mkdir()
    script = (
        f'mount --bind "{folder}" "{folder}" && mount -o remount,bind,ro / && '
        '! touch "$HOME/policygen-was-here" 2> /dev/null && exec "$@"'
    )
    with subprocess.Popen(
        [*own_mounts, "sh", "-c", script, "sh", *COMMAND, "up"],
        env={**os.environ, "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        brought_up(running)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=ENDS_S)
    assert running.returncode == 0
    assert list(folder.iterdir()) == []
