"""Starts and ends one control plane on loopback, all its state in one temporary folder."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import yaml

from policygen.core.versions import MUTATING_POLICIES, release
from tests import kubeconfigs

from . import kueue, volcano
from .build import Built
from .client import Client, Object
from .ports import free_ports
from .process import Process, ServerError, answers
from .upstream import AUTOSCALERS, OPERATORS

START_DEADLINE_S = 240.0
"""Loaded CI machines have needed more than a minute for the definitions of the operators."""
KEYS_DEADLINE_S = 120.0
PREFIX = "policygen-cp-"
CLAIM = "claim"
SWEEP_AFTER_S = 60.0
"""So that a folder is not taken away between being made and being claimed."""
INSTALL_THREADS = 6
COLLECTION = {"GOGC": "400", "GOMEMLIMIT": "1536MiB"}
"""Go collects garbage less often: a start takes a quarter less CPU. The limit is a server's."""
CONVERTED = ",".join(f"{plural}.kueue.x-k8s.io#0" for plural in sorted(kueue.CONVERTED))
"""No watch cache for what Kueue converts: one for each version asks its webhook about each change."""
NOT_RUN = (
    "endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller",
    "root-ca-certificate-publisher-controller", "serviceaccount-controller",
)  # fmt: skip
"""Controllers of what only a kubelet and a network use: a third of the requests about a namespace."""
QUICK = ("--kube-api-qps=500", "--kube-api-burst=1000")
"""Instead of 20 requests a second, for which tests would wait."""
TOKEN, OBSERVER_TOKEN = "policygen-admin", "policygen-observer"
CONTEXT = "bench"
"""Of the kubeconfig."""
PORTS = (
    "etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler",
    "kueue-webhook", "kueue-health", "volcano-webhook", "volcano-scheduler-health",
    "volcano-controller-health", "kwok",
)  # fmt: skip
KWOK_STAGES = (
    "kustomize/stage/node/fast/node-initialize.yaml",
    "kustomize/stage/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "kustomize/stage/pod/fast/pod-ready.yaml",
    "kustomize/stage/pod/fast/pod-delete.yaml",
)
KWOK_COMPLETE = "kustomize/stage/pod/fast/pod-complete.yaml"
"""Ends a Job's pods at once; off by default, so that running pods hold their GPUs."""

KUBERNETES, KUEUE, VOLCANO, KWOK = "kubernetes", "kueue", "volcano", "kwok"
EVERYTHING = frozenset({KUBERNETES, KUEUE, VOLCANO, KWOK})


@dataclass(frozen=True)
class Options:
    """What to run besides etcd and the API server, and with which configuration files."""

    parts: frozenset[str] = EVERYTHING
    kueue_crds: bool = True
    volcano_crds: bool = True
    autoscaler_crds: bool = True
    operator_crds: bool = False
    """Those of OPERATORS. Tests that run an operator install its CRDs themselves."""
    scheduler_config: Path | None = None
    kueue_config: Path | None = None
    volcano_config: Path | None = None
    complete_jobs: bool = False


class Bench:
    """A running control plane. Use it as a context manager, from the main thread."""

    def __init__(self, built: Mapping[str, Built], options: Options | None = None) -> None:
        self.built = built
        self.options = options or Options()
        sweep(Path(tempfile.gettempdir()))
        self.state = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._claim = (self.state / CLAIM).open("w", encoding="ascii")
        fcntl.flock(self._claim, fcntl.LOCK_EX)
        self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self.processes: dict[str, Process] = {}
        self.timings: dict[str, float] = {}
        self.kubeconfig = self.state / "kubeconfig"
        self._client: Client | None = None
        self._others = 0
        self.keep_logs = False
        """Also where the `with` block ends well."""
        for name in ("logs", "tmp", "run", "keys"):
            (self.state / name).mkdir()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop(keep=True)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop(keep=self.keep_logs or isinstance(error, Exception))

    @property
    def client(self) -> Client:
        assert self._client, "not started"
        return self._client

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.ports['kube-apiserver']}"

    @property
    def etcd(self) -> str:
        return f"http://127.0.0.1:{self.ports['etcd']}"

    @property
    def ca(self) -> Path:
        return self.state / "keys" / "ca.crt"

    def start(self) -> None:
        """Bring everything up in dependency order; each wait has a deadline."""
        began = time.monotonic()
        self._make_keys()
        self._write_access()
        with ThreadPoolExecutor(INSTALL_THREADS) as pool:
            objects = pool.submit(self._objects)  # parsed while the API server starts
            self._start_etcd()
            self._start_apiserver()
            self.timings["etcd and API server"] = time.monotonic() - began
            self._install(objects.result(), pool)
        self.timings["CRDs and webhooks"] = time.monotonic() - began
        self._start_controllers()
        self.timings["all healthy"] = time.monotonic() - began
        self.check_alive()  # something else may have answered on its port
        self._write_info()

    def stop(self, *, keep: bool) -> None:
        """End exactly what was started, servers of state last; keep logs and configurations if asked."""
        last = [self.processes[n] for n in ("kube-apiserver", "etcd") if n in self.processes]
        first = [process for process in self.processes.values() if process not in last]
        for process in first:
            process.ask_to_stop()
        for process in (*first, *last):
            process.stop()
        if self._client:
            self._client.close()
        self._claim.close()
        if not keep:
            shutil.rmtree(self.state, ignore_errors=True)
            return
        (self.state / CLAIM).unlink(missing_ok=True)
        for path in self.state.iterdir():
            if path.is_dir() and path.name != "logs":
                shutil.rmtree(path, ignore_errors=True)

    def check_alive(self) -> None:
        """Raise ServerError, with the end of its log, if a server ended on its own."""
        for process in self.dead():
            raise ServerError(
                f"{process.name} ended with {process.exit_code}; {process.log}:\n{process.tail()}"
            )

    def dead(self) -> list[Process]:
        """The servers that ended on their own."""
        return [p for p in self.processes.values() if p.exit_code is not None]

    def restart(self, process: Process) -> None:
        """Start a server again that ended; of the API server, wait until it serves."""
        process.start()
        if process.name == "kube-apiserver":
            self._healthy(process, f"{self.server}/readyz")()
        self._write_info()

    # Other servers for a while

    @contextmanager
    def second_scheduler(self, config: str, *, alone: bool) -> Iterator[None]:
        """One more kube-scheduler with this file; with `alone` the first one pauses."""
        with ExitStack() as stack:
            if alone:
                stack.enter_context(self._paused("kube-scheduler", self._start_scheduler))
            name, healthy = self.try_scheduler(config)
            stack.callback(self.end, name)
            healthy()
            yield

    @contextmanager
    def second_apiserver(self, *flags: str) -> Iterator[str]:
        """One more API server of the same objects with these flags too; gives its URL."""
        name = self._another("kube-apiserver")
        (self.ports[name],) = free_ports(1)
        try:
            process = self._run_apiserver(name, *flags)
            url = f"https://127.0.0.1:{self.ports[name]}"
            self._healthy(process, f"{url}/readyz")()
            yield url
        finally:
            self.end(name)

    def try_scheduler(self, config: str) -> tuple[str, Callable[[], None]]:
        """Start one more kube-scheduler: its name, and what waits until it is ready."""
        name = self._another("kube-scheduler")
        (self.ports[name],) = free_ports(1)
        return name, self._start_scheduler(name, config)

    def try_volcano(self, config: str) -> tuple[str, Callable[[], None]]:
        """Start one more Volcano scheduler, talkative: its name, and what waits for its health."""
        name = self._another("volcano-scheduler")
        path = self.state / f"{name}.conf"
        path.write_text(config, encoding="utf-8")
        (self.ports[name],) = free_ports(1)
        process = self.run_volcano_scheduler(name, path, verbosity=4, port=self.ports[name])
        return name, self._healthy(process, f"http://127.0.0.1:{self.ports[name]}/healthz")

    @contextmanager
    def other_kueue(self, configuration: Object, *flags: str) -> Iterator[None]:
        """Kueue with this Configuration, and flags, instead of its usual one."""
        with self._paused(KUEUE, self._start_kueue):
            name = self._another(KUEUE)
            try:
                process = self.run_kueue(name, configuration, *flags)
                self._healthy(process, self.kueue_health)()
                yield
            finally:
                self.end(name)

    @contextmanager
    def other_volcano(self, config: str, *, period: str = "1s") -> Iterator[tuple[Process, Path]]:
        """Volcano's scheduler with this configuration instead of its usual one.

        Gives the process, and its configuration's file, which it reads again when it changes.
        """
        with self._paused("volcano-scheduler", self._start_volcano_scheduler):
            name = self._another("volcano-scheduler")
            path = self.state / f"{name}.conf"
            path.write_text(config, encoding="utf-8")
            try:
                process = self.run_volcano_scheduler(name, path, period=period)
                self._healthy(process, self.volcano_health)()
                yield process, self.state / name / path.name
            finally:
                self.end(name)

    @contextmanager
    def _paused(self, name: str, start: Callable[[], Callable[[], None]]) -> Iterator[None]:
        self.end(name)
        try:
            yield
        finally:
            start()()

    def end(self, *names: str) -> None:
        """Stop some servers; asked all at once."""
        ended = [self.processes.pop(name) for name in names if name in self.processes]
        for process in ended:
            process.ask_to_stop()
        for process in ended:
            process.stop()

    def _another(self, name: str) -> str:
        """A name, for the process and its files, that no other server had."""
        self._others += 1
        return f"{name}-{self._others}"

    # Starting one by one

    def run(
        self,
        name: str,
        command: Iterable[str | Path],
        environment: Mapping[str, str] | None = None,
        binds: Iterable[tuple[Path, Path]] = (),
    ) -> Process:
        """Start one more server whose log and end belong to this bench."""
        process = Process(
            name,
            [str(part) for part in command],
            self.state / "logs" / f"{name}.log",
            {
                "HOME": str(self.state),
                "TMPDIR": str(self.state / "tmp"),
                "KUBECONFIG": str(self.kubeconfig),
                **COLLECTION,
                **(environment or {}),
            },
            tuple(binds),
        )
        self.processes[name] = process
        process.start()
        return process

    def _make_keys(self) -> None:
        program = self.built["keys"].binary("keys")
        if not program.is_file():
            raise ServerError(f"keys: {program} is missing; run `python -m tests.servers build`")
        subprocess.run([program, self.state / "keys"], check=True, timeout=KEYS_DEADLINE_S)

    def _start_etcd(self) -> None:
        peer = f"http://127.0.0.1:{self.ports['etcd-peer']}"
        process = self.run(
            "etcd",
            [
                self.built["etcd"].binary("etcd"),
                f"--data-dir={self.state / 'etcd'}",
                "--unsafe-no-fsync",
                "--name=policygen",
                f"--listen-client-urls={self.etcd}",
                f"--advertise-client-urls={self.etcd}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=policygen={peer}",
                "--log-level=warn",
            ],
        )
        process.wait_until(lambda: answers(f"{self.etcd}/health"), START_DEADLINE_S)

    def _start_apiserver(self) -> None:
        process = self._run_apiserver("kube-apiserver")
        self._client = Client(self.server, TOKEN, self.ca.read_text(encoding="ascii"))
        process.wait_until(lambda: answers(f"{self.server}/readyz", self.ca), START_DEADLINE_S)

    def _run_apiserver(self, name: str, *flags: str) -> Process:
        keys = self.state / "keys"
        return self.run(
            name,
            [
                self.built["kubernetes"].binary("kube-apiserver"),
                f"--etcd-servers={self.etcd}",
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                f"--secure-port={self.ports[name]}",
                f"--cert-dir={keys}",
                f"--tls-cert-file={keys / 'tls.crt'}",
                f"--tls-private-key-file={keys / 'tls.key'}",
                f"--client-ca-file={self.ca}",
                f"--token-auth-file={keys / 'tokens.csv'}",
                "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={keys / 'sa.key'}",
                f"--service-account-signing-key-file={keys / 'sa.key'}",
                "--disable-admission-plugins=ServiceAccount",
                "--allow-privileged=true",  # as kubeadm and managed clusters do
                "--service-cluster-ip-range=10.96.0.0/16",
                "--endpoint-reconciler-type=none",
                "--profiling=false",
                f"--watch-cache-sizes={CONVERTED}",
                "--enable-priority-and-fairness=false",
                *flags,
            ],
        )

    def _start_controllers(self) -> None:
        """All the rest at once; Volcano's scheduler after the webhook that it needs."""
        parts = self.options.parts
        waits: list[Callable[[], None]] = []
        if VOLCANO in parts:
            webhook_manager = self._start_volcano_webhooks()
        if KUBERNETES in parts:
            waits += [self._start_controller_manager(), self._start_scheduler()]
        if KUEUE in parts:
            waits.append(self._start_kueue())
        if KWOK in parts:
            waits.append(self._start_kwok())
        if VOLCANO in parts:
            url = f"{self._volcano_webhook}/queues/validate"
            webhook_manager.wait_until(
                lambda: answers(url, self.ca, any_status=True), START_DEADLINE_S
            )
            waits += [self._start_volcano_controllers(), self._start_volcano_scheduler()]
        for wait in waits:
            wait()

    def _healthy(
        self, process: Process, url: str, also: Callable[[], bool] = lambda: True
    ) -> Callable[[], None]:
        return lambda: process.wait_until(
            lambda: answers(url, self.ca) and also(), START_DEADLINE_S
        )

    def _start_controller_manager(self) -> Callable[[], None]:
        name = "kube-controller-manager"
        keys = self.state / "keys"
        process = self.run(
            name,
            [
                self.built["kubernetes"].binary(name),
                f"--kubeconfig={self.kubeconfig}",
                *self._secure(name),
                "--leader-elect=false",
                f"--service-account-private-key-file={keys / 'sa.key'}",
                f"--root-ca-file={self.ca}",
                f"--controllers=*,{','.join(f'-{name}' for name in NOT_RUN)}",
                *QUICK,
                "--horizontal-pod-autoscaler-sync-period=1s",  # it also waits so long at first
                # kwok renews no leases, and reports a node every 10 to 20 minutes. After 40 seconds, the
                # default, all nodes would be unreachable: no budget counts their pods, and Kueue ends them.
                "--node-monitor-grace-period=1h",
                # A refused request can leave the used amount too high until the next sync.
                "--resource-quota-sync-period=5s",
            ],
        )
        return self._healthy(process, f"https://127.0.0.1:{self.ports[name]}/healthz")

    def _start_scheduler(
        self, name: str = "kube-scheduler", config: str | None = None
    ) -> Callable[[], None]:
        if config is None and self.options.scheduler_config:
            config = self.options.scheduler_config.read_text(encoding="utf-8")
        path = self._scheduler_config(name, config) if config else self._default_scheduler_config()
        alone = not config or _own_election(yaml.load(config, Loader=yaml.CSafeLoader)) is None
        process = self.run(
            name,
            [
                self.built["kubernetes"].binary("kube-scheduler"),
                f"--config={path}",
                *self._secure(name),
                *(["--leader-elect=false"] if alone else []),
            ],
        )
        return self._healthy(process, f"https://127.0.0.1:{self.ports[name]}/readyz")

    def _secure(self, name: str) -> list[str]:
        return [
            "--bind-address=127.0.0.1",
            f"--secure-port={self.ports[name]}",
            f"--tls-cert-file={self.state / 'keys' / 'tls.crt'}",
            f"--tls-private-key-file={self.state / 'keys' / 'tls.key'}",
            f"--authentication-kubeconfig={self.kubeconfig}",
            f"--authorization-kubeconfig={self.kubeconfig}",
        ]

    def _start_kueue(self) -> Callable[[], None]:
        source = self.options.kueue_config or self.built["kueue"].asset(kueue.CONFIGURATION)
        configuration = yaml.load(source.read_bytes(), Loader=yaml.CSafeLoader)
        process = self.run_kueue("kueue", configuration)
        return self._healthy(process, self.kueue_health)

    @property
    def kueue_health(self) -> str:
        return f"http://127.0.0.1:{self.ports['kueue-health']}/readyz"

    def run_kueue(self, name: str, configuration: Object, *flags: str) -> Process:
        """Start a Kueue manager with this configuration, adjusted to this environment."""
        mine = kueue.adjusted(
            configuration,
            webhook_port=self.ports["kueue-webhook"],
            health_port=self.ports["kueue-health"],
            certificates=self.state / "keys",
        )
        if any(flag.startswith("--feature-gates=") for flag in flags):
            # They exclude those of a file, so what the bench needs goes beside them.
            own = mine.pop("featureGates") if not configuration.get("featureGates") else {}
            said = "".join(f",{gate}={str(on).lower()}" for gate, on in own.items())
            flags = tuple(
                f"{it}{said}" if it.startswith("--feature-gates=") else it for it in flags
            )
        path = self.state / f"{name}.json"
        path.write_text(json.dumps(mine, indent=2), encoding="utf-8")
        etc = kueue.private_etc(self.state / "run" / f"{name}-etc", self.state / "keys")
        return self.run(
            name,
            [self.built["kueue"].binary("kueue"), f"--config={path}", "--zap-log-level=2", *flags],
            {"POD_NAMESPACE": kueue.NAMESPACE},
            [(etc, Path("/etc"))],
        )

    def _start_volcano_webhooks(self) -> Process:
        keys = self.state / "keys"
        return self.run(
            "volcano-webhook-manager",
            [
                self.built["volcano"].binary("volcano-webhook-manager"),
                f"--kubeconfig={self.kubeconfig}",
                "--listen-address=127.0.0.1",
                f"--port={self.ports['volcano-webhook']}",
                f"--webhook-url={self._volcano_webhook}",
                f"--enabled-admission={','.join(hook.path for hook in volcano.HOOKS)}",
                f"--tls-cert-file={keys / 'tls.crt'}",
                f"--tls-private-key-file={keys / 'tls.key'}",
                f"--ca-cert-file={self.ca}",
                "--graceful-shutdown-time=1s",
                "--logtostderr",
                "-v=3",
            ],
            self._volcano_environment("vw"),
        )

    def _start_volcano_controllers(self) -> Callable[[], None]:
        address = f"127.0.0.1:{self.ports['volcano-controller-health']}"
        process = self.run(
            "volcano-controller-manager",
            [
                self.built["volcano"].binary("volcano-controller-manager"),
                f"--kubeconfig={self.kubeconfig}",
                "--leader-elect=false",
                "--enable-healthz=true",
                f"--healthz-address={address}",
                "--logtostderr",
                "-v=3",
            ],
            self._volcano_environment("vc"),
        )
        return self._healthy(process, f"http://{address}/healthz")

    def _start_volcano_scheduler(self) -> Callable[[], None]:
        config = self.options.volcano_config
        process = self.run_volcano_scheduler(
            "volcano-scheduler", config or self.built["volcano"].asset(volcano.CONFIGURATION)
        )
        return self._healthy(process, self.volcano_health, self._has_default_queues)

    @property
    def volcano_health(self) -> str:
        return f"http://127.0.0.1:{self.ports['volcano-scheduler-health']}/healthz"

    def run_volcano_scheduler(
        self,
        name: str,
        config: Path,
        verbosity: int = 3,
        port: int | None = None,
        period: str = "1s",
    ) -> Process:
        """Start a Volcano scheduler with a copy of this configuration and a session each period."""
        folder = self.state / name
        folder.mkdir(exist_ok=True)
        mine = folder / config.name  # it watches the whole folder, so the copy sits alone
        shutil.copyfile(config, mine)
        address = f"127.0.0.1:{port or self.ports['volcano-scheduler-health']}"
        return self.run(
            name,
            [
                self.built["volcano"].binary("volcano-scheduler"),
                f"--kubeconfig={self.kubeconfig}",
                f"--scheduler-conf={mine}",
                f"--schedule-period={period}",
                "--leader-elect=false",
                "--enable-healthz=true",
                f"--healthz-address={address}",
                "--cache-dumper=false",
                "--logtostderr",
                f"-v={verbosity}",
            ],
            self._volcano_environment(f"vs{port or ''}"),
        )

    def _has_default_queues(self) -> bool:
        queues = "/apis/scheduling.volcano.sh/v1beta1/queues"
        return all(self.client.get(f"{queues}/{name}").ok for name in ("root", "default"))

    def _volcano_environment(self, short: str) -> dict[str, str]:
        # A Unix socket's path may have 107 bytes; each program removes others' sockets.
        return {"DEBUG_SOCKET_DIR": str(self.state / "run" / short)}

    def _start_kwok(self) -> Callable[[], None]:
        stages = [*KWOK_STAGES, *([KWOK_COMPLETE] if self.options.complete_jobs else [])]
        address = f"127.0.0.1:{self.ports['kwok']}"
        process = self.run(
            "kwok",
            [
                self.built["kwok"].binary("kwok"),
                f"--kubeconfig={self.kubeconfig}",
                "--manage-all-nodes=true",
                f"--server-address={address}",
                *(f"--config={self.built['kwok'].asset(stage)}" for stage in stages),
            ],
        )
        return self._healthy(process, f"http://{address}/healthz")

    # Files and objects

    @property
    def _kueue_webhook(self) -> str:
        return f"https://127.0.0.1:{self.ports['kueue-webhook']}"

    @property
    def _volcano_webhook(self) -> str:
        return f"https://127.0.0.1:{self.ports['volcano-webhook']}"

    def _write_access(self) -> None:
        tokens = (
            f"{TOKEN},admin,1,system:masters",
            f"{OBSERVER_TOKEN},observer,2,policygen:observers",
        )
        (self.state / "keys" / "tokens.csv").write_text("\n".join(tokens) + "\n", encoding="ascii")
        ca = base64.b64encode(self.ca.read_bytes()).decode()
        self.kubeconfig.touch(mode=0o600)
        kubeconfigs.write(
            self.kubeconfig,
            self.server,
            {"token": TOKEN},
            CONTEXT,
            certificate_authority_data=ca,
        )

    def _scheduler_config(self, name: str, config: str) -> Path:
        """The file, adjusted only in how the server is reached and in leader election.

        One that elects with a lease of its own does so.
        """
        fields = yaml.load(config, Loader=yaml.CSafeLoader)
        fields["clientConnection"] = {
            **(fields.get("clientConnection") or {}),
            "kubeconfig": str(self.kubeconfig),
        }
        fields["leaderElection"] = _own_election(fields) or {"leaderElect": False}
        path = self.state / f"{name}.json"
        path.write_text(json.dumps(fields, indent=2), encoding="utf-8")
        return path

    def _default_scheduler_config(self) -> Path:
        path = self.state / "kube-scheduler.yaml"
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(self.kubeconfig)},
        }
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        return path

    def _objects(self) -> list[list[Object]]:
        """What to create, in steps: later steps need earlier ones."""
        ca = base64.b64encode(self.ca.read_bytes()).decode()
        definitions: list[Object] = []
        rest: list[Object] = [_namespace(kueue.NAMESPACE), _namespace(volcano.NAMESPACE)]
        rest += [*_observer(), *_watch_config_maps(self.built["kubernetes"].upstream.minor)]
        if self.options.kueue_crds:
            definitions += kueue.crds(self.built["kueue"], self._kueue_webhook, ca)
        if KUEUE in self.options.parts:
            rest += kueue.webhooks(self.built["kueue"], self._kueue_webhook, ca)
        if self.options.volcano_crds:
            definitions += volcano.crds(self.built["volcano"])
        if self.options.autoscaler_crds:
            definitions += _crds(self.built[it.name] for it in AUTOSCALERS)
        if self.options.operator_crds:
            definitions += _merged(_crds(self.built[it.name] for it in OPERATORS))
        if VOLCANO in self.options.parts:
            rest += volcano.webhooks(self._volcano_webhook, ca)
        return [definitions, rest]

    def _install(self, steps: list[list[Object]], pool: ThreadPoolExecutor) -> None:
        for step in steps:
            list(pool.map(self.client.create, step))
        unserved = {_served_as(definition) for definition in steps[0]}

        def all_served() -> bool:
            """Discovery names them before they can be listed, or the other way round."""
            for prefix in {prefix for prefix, _ in unserved}:
                resources = self.client.get(prefix).body.get("resources", [])
                known = {(prefix, entry["name"]) for entry in resources}
                for path in unserved & known:
                    if self.client.request("GET", "/".join(path), query={"limit": "1"}).ok:
                        unserved.remove(path)
            return not unserved

        self.processes["kube-apiserver"].wait_until(all_served, START_DEADLINE_S)

    def _write_info(self) -> None:
        """Write a file with what other programs need to use this control plane."""
        info = {
            "pid": os.getpid(),
            "server": self.server,
            "kubeconfig": str(self.kubeconfig),
            "state": str(self.state),
            "ports": self.ports,
            "seconds": {what: round(value, 1) for what, value in self.timings.items()},
            "processes": {
                p.name: {"pid": p.pid, "log": str(p.log)} for p in self.processes.values()
            },
        }
        (self.state / "info.json").write_text(json.dumps(info, indent=2) + "\n", encoding="utf-8")


def sweep(folder: Path) -> None:
    """Remove what benches of killed processes left in a folder.

    The claim on a bench's state is a lock, which ends with its process. Logs that were kept on
    purpose have no claim.
    """
    for state in folder.glob(f"{PREFIX}*"):
        try:
            if time.time() - state.stat().st_mtime < SWEEP_AFTER_S:
                continue
            with (state / CLAIM).open("r+", encoding="ascii") as claim:
                fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(state, ignore_errors=True)
        except OSError:
            continue  # in use, kept, or owned by another user


def _crds(built: Iterable[Built]) -> Iterator[Object]:
    for upstream in built:
        for asset in map(upstream.asset, upstream.upstream.assets):
            for path in sorted(asset.glob("*.yaml")) if asset.is_dir() else (asset,):
                for thing in yaml.load_all(path.read_bytes(), Loader=yaml.CSafeLoader):
                    if thing["kind"] == "CustomResourceDefinition":
                        yield thing


def _merged(definitions: Iterable[Object]) -> list[Object]:
    """One CRD of each name: two operators have MPIJobs, in different versions."""
    found: dict[str, Object] = {}
    for definition in definitions:
        first = found.setdefault(definition["metadata"]["name"], definition)
        if first is not definition:
            versions = definition["spec"]["versions"]
            first["spec"]["versions"] += [{**it, "storage": False} for it in versions]
    return [*found.values()]


def _served_as(definition: Object) -> tuple[str, str]:
    """The discovery path and the plural under which a CRD appears once it is served."""
    spec = definition["spec"]
    version = next(v["name"] for v in spec["versions"] if v["storage"])
    return f"/apis/{spec['group']}/{version}", spec["names"]["plural"]


def _namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _watch_config_maps(kubernetes: str) -> list[Object]:
    """Policies that match no request, so that the API server never stops to watch parameters.

    It stops when the last policy with parameters of a kind is deleted, and does not begin again: new
    policies then see the ConfigMaps of that moment (1.36.3, `ensureParamsForPolicyLocked`).
    """
    version, name = "admissionregistration.k8s.io/v1", "policygen-config-maps"
    nothing = {
        "apiGroups": ["nothing.policygen.test"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["nothing"],
    }
    removal = "[JSONPatch{op: 'remove', path: '/metadata/labels'}]"
    change = {"patchType": "JSONPatch", "jsonPatch": {"expression": removal}}
    actions: dict[str, tuple[Object, Object]] = {
        "ValidatingAdmissionPolicy": (
            {"validations": [{"expression": "true"}]},
            {"validationActions": ["Audit"]},
        ),
        "MutatingAdmissionPolicy": ({"reinvocationPolicy": "Never", "mutations": [change]}, {}),
    }
    if release(kubernetes) < MUTATING_POLICIES:
        del actions["MutatingAdmissionPolicy"]
    found: list[Object] = []
    for kind, (of_policy, of_binding) in actions.items():
        policy: Object = {
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "matchConstraints": {"resourceRules": [nothing]},
            **of_policy,
        }
        reference = {"name": name, "parameterNotFoundAction": "Allow"}
        binding: Object = {"policyName": name, "paramRef": reference, **of_binding}
        for made, spec in ((kind, policy), (f"{kind}Binding", binding)):
            head = {"apiVersion": version, "kind": made, "metadata": {"name": name}}
            found.append({**head, "spec": spec})
    return found


def _observer() -> list[Object]:
    """A user who may look at everything and change nothing: for a second scheduler's trial."""
    api = "rbac.authorization.k8s.io"
    name = "policygen:observers"
    rule = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    return [
        {
            "apiVersion": f"{api}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": [rule],
        },
        {
            "apiVersion": f"{api}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": api, "kind": "Group", "name": name}],
        },
    ]


__all__ = ["EVERYTHING", "Bench", "Options", "ServerError"]


def _own_election(fields: Object) -> Object | None:
    """The leader election of a file, if it names a resource of its own."""
    election: Object = fields.get("leaderElection") or {}
    return election if election.get("resourceName") else None
