"""Exec plugins of kubeconfigs: what is wrong with one, in a line that says what to mend."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from policygen.cluster.parts import mappings

_VERSIONS = re.compile(r"plugin api version (\S+) does not match (\S+)")
_ENDED = re.compile(r"process returned (-?\d+)(?:\. )?(.*)")


def check(plugin: Mapping[str, Any], folder: Path) -> None:
    """Raise ValueError for one that cannot be run. A path is looked up from the kubeconfig's folder."""
    command = plugin.get("command")
    if not isinstance(command, str) or not command:
        raise ValueError("its exec plugin has no command")
    path = os.environ.get("PATH", os.defpath)
    for each in mappings(plugin, "env"):
        if each.get("name") == "PATH":
            path = str(each.get("value"))
    program = str(folder / command) if os.sep in command else command
    if shutil.which(program, path=path) is None:
        is_there = os.sep in command and Path(program).is_file()
        how = "is no program that may be run" if is_there else "is not installed, or not on PATH"
        hint = " ".join(str(plugin.get("installHint") or "").split())
        raise ValueError(f"its exec plugin {command} {how}{f': {hint}' if hint else ''}")


def told(said: str, plugin: Mapping[str, Any]) -> str:
    """What the `kubernetes` client said of a plugin's run, in words about the plugin."""
    name = f"its exec plugin {plugin.get('command')}"
    if found := _VERSIONS.search(said):
        return f"{name} answers in {found[1]}, and the kubeconfig asks for {found[2]}"
    if found := _ENDED.search(said):
        return f"{name} failed with exit code {found[1]}{f': {found[2]}' if found[2] else ''}"
    if "failed to decode" in said:
        return f"{name} printed no JSON, so there are no credentials"
    return f"{name} printed no ExecCredential with a token, or a certificate and its key"
