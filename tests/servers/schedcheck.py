"""Does the real kube-scheduler load this KubeSchedulerConfiguration?

Runs it against the running control plane, with the file as it is, as a user who may only look:
nothing is scheduled. Only a `clientConnection.kubeconfig` in the file is replaced, in a copy.
Exit code 0 if it loads, becomes ready and stays up; else 1 and its error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import yaml

from tests import kubeconfigs

from .bench import OBSERVER_TOKEN
from .build import BuildError, build
from .ports import free_ports
from .process import Process, ServerError, answers
from .running import kubeconfig_option
from .upstream import KUBERNETES

READY_DEADLINE_S = 120.0
ACCOUNT = Path("secrets/kubernetes.io/serviceaccount")
LOG_LINE = re.compile(r"^[EF]\d{4} [\d:.]+ +\d+ (\S+)\] (.*)")
NOISE = re.compile(
    r"observer|forbidden|The manifest file is empty, ignoring|extension-apiserver-authentication"
    r"|requestheader-client-ca-file",
    re.IGNORECASE,
)
"""What our way of running it adds: an identity that may not write, no aggregation layer."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="schedcheck.py", description=__doc__)
    parser.add_argument("config", type=Path, metavar="CONFIG.yaml")
    parser.add_argument("--kubeconfig", type=kubeconfig_option, default=None)
    parser.add_argument("--seconds", type=float, default=3.0, help="stay up this long (3)")
    parser.add_argument("--keep", action="store_true", help="keep the log and say where it is")
    options = parser.parse_args(arguments)
    kubeconfig: Path = options.kubeconfig or kubeconfig_option(None)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that we clean up
    state = Path(tempfile.mkdtemp(prefix="policygen-sched-"))
    process = None
    try:
        process = _start(options.config.resolve(), kubeconfig, state)
        return _judge(process, state, options.seconds)
    except (OSError, BuildError, ServerError, yaml.YAMLError) as error:
        print(f"schedcheck: {error}", file=sys.stderr)
        return 2
    finally:
        if process:
            process.stop()
        if options.keep:
            print(f"log: {state / 'kube-scheduler.log'}", file=sys.stderr)
        else:
            shutil.rmtree(state, ignore_errors=True)


def _start(config: Path, kubeconfig: Path, state: Path) -> Process:
    info = json.loads(kubeconfig.with_name("info.json").read_text(encoding="utf-8"))
    keys = Path(info["state"]) / "keys"
    account = state / "run" / ACCOUNT
    account.mkdir(parents=True)
    shutil.copyfile(keys / "ca.crt", account / "ca.crt")
    (account / "token").write_text(OBSERVER_TOKEN, encoding="ascii")
    text = _without_kubeconfig(config.read_text(encoding="utf-8"), state, info["server"])
    mine = state / config.name
    mine.write_text(text, encoding="utf-8")
    (port,) = free_ports(1)
    (state / "port").write_text(str(port), encoding="ascii")
    shutil.copyfile(keys / "ca.crt", state / "ca.crt")
    process = Process(
        "kube-scheduler",
        [
            str(build([KUBERNETES], quiet=True)["kubernetes"].binary("kube-scheduler")),
            f"--config={mine}",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--tls-cert-file={keys / 'tls.crt'}",
            f"--tls-private-key-file={keys / 'tls.key'}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
        ],
        state / "kube-scheduler.log",
        {
            "HOME": str(state),
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(info["ports"]["kube-apiserver"]),
        },
        # In-cluster access needs fixed paths: give it them in a mount namespace of its own.
        [(state / "run", Path(os.path.realpath("/var/run")))],
    )
    process.start()
    return process


def _judge(process: Process, state: Path, seconds: float) -> int:
    port = (state / "port").read_text(encoding="ascii")
    ca = state / "ca.crt"
    try:
        process.wait_until(
            lambda: answers(f"https://127.0.0.1:{port}/readyz", ca), READY_DEADLINE_S
        )
        time.sleep(seconds)
        code = process.exit_code
    except ServerError:
        code = process.exit_code
        if code is None:
            print(f"not ready after {READY_DEADLINE_S:.0f} s")
            code = -1
    log = process.log.read_text(encoding="utf-8", errors="replace")
    process.stop()
    if code is None:
        for logged in errors(log):
            print(f"logged: {logged}")
        print("loaded")
        return 0
    print("\n".join(errors(log)) or f"ended with {code}:\n{process.tail()}")
    return 1


def errors(log: str) -> list[str]:
    """Its error lines, each once: klog's and cobra's."""
    found: dict[str, None] = {}
    for line in log.splitlines():
        if NOISE.search(line):
            continue
        if entry := LOG_LINE.match(line):
            found[entry.group(2)] = None
        elif line.startswith(("Error:", "panic:")):
            found[line] = None
    return list(found)


def _without_kubeconfig(text: str, state: Path, server: str) -> str:
    """The same text; a kubeconfig that it names is replaced by one for the observer."""
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    scalar = _value(_value(node, "clientConnection"), "kubeconfig")
    if not isinstance(scalar, yaml.ScalarNode) or not scalar.value:
        return text
    access = state / "kubeconfig"
    kubeconfigs.write(
        access, server, {"token": OBSERVER_TOKEN}, certificate_authority=str(state / "ca.crt")
    )
    begin, end = scalar.start_mark.index, scalar.end_mark.index
    return f"{text[:begin]}{json.dumps(str(access))}{text[end:]}"


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == key:
                return value  # type: ignore[no-any-return] # data of YAML
    return None


if __name__ == "__main__":
    sys.exit(main())
