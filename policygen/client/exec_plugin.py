"""Exec plugins of kubeconfigs: runs a plugin, and returns its credentials or an error of one line.

The `kubernetes` client runs them too, but it cannot stop a plugin that hangs, or its child processes.
Source: client-go v0.36 plugin/pkg/client/auth/exec/exec.go; client.authentication.k8s.io/v1.
"""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from policygen.kubernetes.untyped import entries, mapping, mappings, text

_OF_A_CLUSTER = (
    "server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url",
    "disable-compression",
)  # fmt: skip
"""Fields of the cluster that are passed to a plugin with provideClusterInfo."""
_EXTENSION = "client.authentication.k8s.io/exec"

_running: dict[subprocess.Popen[bytes], str] = {}
"""Running plugins and their commands. An entry is set and removed in one step."""


class Credentials(Struct, frozen=True):
    """The answer of a plugin."""

    token: str
    certificate: str
    key: str
    expires: datetime | None

    @property
    def fields(self) -> dict[str, str]:
        """The fields of a user in a kubeconfig."""
        written = {
            "token": self.token,
            "client-certificate-data": base64.b64encode(self.certificate.encode()).decode(),
            "client-key-data": base64.b64encode(self.key.encode()).decode(),
        }
        return {key: value for key, value in written.items() if value}


def credentials(plugin: Mapping[str, Any], cluster: Mapping[str, Any], folder: Path) -> Credentials:
    """Run a plugin and return its credentials. Raises ValueError, or OSError.

    A relative path of its command starts at `folder`, the absolute folder of the kubeconfig. The
    plugin runs in our working directory.
    """
    command = plugin.get("command")
    if not isinstance(command, str) or not command:
        raise ValueError(
            "the exec plugin of the user has no command; write user.exec.command in the kubeconfig"
        )
    name = f"exec plugin {command}"
    mode = text(plugin, "interactiveMode") or "IfAvailable"
    can_ask = mode != "Never" and sys.stdin is not None and sys.stdin.isatty()
    if mode == "Always" and not can_ask:
        raise ValueError(f"{name} needs a terminal, but standard input is not a terminal")
    spec: dict[str, Any] = {"interactive": can_ask}
    if plugin.get("provideClusterInfo"):
        spec["cluster"] = _cluster_info(cluster, folder)
    version = plugin.get("apiVersion")
    about = {"apiVersion": version, "kind": "ExecCredential", "spec": spec}
    environment = {
        **os.environ,
        **{str(it.get("name")): str(it.get("value", "")) for it in mappings(plugin, "env")},
        "KUBERNETES_EXEC_INFO": json.dumps(about),
    }
    program = str(folder / command) if os.sep in command else command
    if shutil.which(program, path=environment.get("PATH", os.defpath)) is None:
        is_there = os.sep in command and Path(program).is_file()
        fault = f"{name} is not executable"
        if not is_there:
            fault = f"{name} is not installed, or is not on PATH"
        hint = " ".join(str(plugin.get("installHint") or "").split())
        raise ValueError(f"{fault}: {hint}" if hint else fault)
    words = [program, *map(str, entries(plugin, "args"))]
    return _read(_run(words, environment, command, can_ask=can_ask), version, name)


def end() -> list[str]:
    """Stop the running plugins with their child processes. Returns their commands."""
    found = dict(_running)
    for process in found:
        _kill(process)
    return sorted(found.values())


def _run(words: list[str], environment: Mapping[str, str], command: str, *, can_ask: bool) -> bytes:
    """The output of the plugin. Raises ValueError if it fails."""
    process = subprocess.Popen(  # noqa: S603 - the user's kubeconfig names the command
        words,
        stdin=None if can_ask else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if can_ask else subprocess.PIPE,
        env=environment,
        # A plugin that may prompt stays in the foreground process group of the terminal.
        process_group=None if can_ask else 0,
    )
    _running[process] = command
    try:
        printed, stderr = process.communicate()
    finally:
        del _running[process]
        _kill(process)
    if process.returncode:
        reason = " ".join((stderr or b"").decode(errors="replace").split())
        raise ValueError(
            f"exec plugin {command} failed with exit code "
            f"{process.returncode}{f': {reason}' if reason else ''}"
        )
    return printed


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError, PermissionError):
        if os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _cluster_info(cluster: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    found = {key: cluster[key] for key in _OF_A_CLUSTER if key in cluster}
    authority = text(cluster, "certificate-authority")
    if authority and "certificate-authority-data" not in found:
        read = (folder / authority).read_bytes()
        found["certificate-authority-data"] = base64.b64encode(read).decode()
    for extension in mappings(cluster, "extensions"):
        if extension.get("name") == _EXTENSION:
            found["config"] = extension.get("extension")
    return found


def _read(printed: bytes, version: Any, name: str) -> Credentials:
    try:
        answer = json.loads(printed)
    except ValueError:
        raise ValueError(f"{name} did not print JSON, so there are no credentials") from None
    status = mapping(answer, "status")
    certificate, key = text(status, "clientCertificateData"), text(status, "clientKeyData")
    token = text(status, "token")
    if not (token or certificate) or bool(certificate) != bool(key):
        raise ValueError(
            f"{name} did not print an ExecCredential with a token, or with a certificate and its key"
        )
    if text(answer, "apiVersion") != version:
        raise ValueError(
            f"{name} answers with apiVersion {answer.get('apiVersion')}, but the kubeconfig "
            f"requests {version}"
        )
    return Credentials(token, certificate, key, _moment(text(status, "expirationTimestamp"), name))


def _moment(written: str, name: str) -> datetime | None:
    if not written:
        return None
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        raise ValueError(f'{name} printed an invalid expirationTimestamp: "{written}"') from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
