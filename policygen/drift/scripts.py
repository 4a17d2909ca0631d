"""Writes the steps as files: patches, manifests, and shell scripts that run kubectl."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence

from policygen.drift.patches import Act, PatchStep, named

MEND, RECREATE, DELETE = "mend.sh", "recreate.sh", "delete.sh"
TAKE_OVER = "take-over.sh"

_HEADS: Mapping[str, str] = {
    MEND: "Patches changed fields and creates missing objects. If a list has changed since lint ran,\n"
    "# the server refuses the patch of this list. Run lint again in this case.",
    RECREATE: "Deletes objects whose change the server refuses, and creates them again.\n"
    "# Between these steps an object does not exist, and workloads that refer to the object wait.",
    TAKE_OVER: "Changes objects that another tool, spec or controller manages. Run this script only if the\n"
    "# spec should manage them; otherwise the other tool changes them back.",
    DELETE: "Deletes objects that the spec no longer renders. Read this script before you run it:\n"
    "# workloads in a deleted queue keep running, and no quota counts them.",
}
_SCRIPT = {Act.PATCH: MEND, Act.CREATE: MEND, Act.RECREATE: RECREATE, Act.DELETE: DELETE}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def files(steps: Sequence[PatchStep], cluster: str, begin: Sequence[str]) -> dict[str, str]:
    """Texts by their path in the folder of one cluster. Scripts without commands are omitted.

    `begin` is the result of `patches.kubectl`.
    """
    made: dict[str, str] = {}
    lines: dict[str, list[str]] = {}
    width = len(str(len(steps)))
    for number, step in enumerate(steps, 1):
        stem = f"{number:0{width}}-{safe(str(step.object).lower())}"
        path = ""
        if step.act is Act.PATCH:
            path = f"patches/{stem}.json"
            made[path] = json.dumps(step.patch, indent=2, ensure_ascii=False) + "\n"
        elif step.act is not Act.DELETE:
            path = f"manifests/{stem}.yaml"
            made[path] = step.text
        words = (shlex.join(each) for each in _commands(step, begin, path))
        script = TAKE_OVER if step.foreign else _SCRIPT[step.act]
        lines.setdefault(script, []).append("run " + " && run ".join(words))
    for name, commands in lines.items():
        made[name] = _script(_HEADS[name], cluster, commands)
    return made


def safe(name: str) -> str:
    """A name that is safe in a path."""
    return _UNSAFE.sub("-", name).strip(".-") or "cluster"


def _commands(step: PatchStep, begin: Sequence[str], path: str) -> list[list[str]]:
    who = named(step.object)
    create = [*begin, "apply", "--server-side", "-f", path]
    match step.act:
        case Act.PATCH:
            return [[*begin, "patch", *who, "--type=json", "--patch-file", path]]
        case Act.CREATE:
            return [create]
        case Act.RECREATE:
            if not step.held:
                return [[*begin, "delete", *who], create]
            # Objects that refer to it would keep it forever, and must find it again at once.
            free = ["--type=merge", "-p", '{"metadata":{"finalizers":null}}']
            return [
                [*begin, "delete", *who, "--wait=false"],
                [*begin, "patch", *who, *free],
                create,
            ]
        case Act.DELETE:
            return [[*begin, "delete", *who]]


def _script(head: str, cluster: str, commands: Sequence[str]) -> str:
    return (
        "#!/bin/sh\n"
        f"# {head}\n"
        f"# Cluster: {json.dumps(cluster)}. Written by `policygen lint --patches`.\n"
        'cd "$(dirname "$0")" || exit 1\n'
        "failed=0\n"
        'run() { "$@" || { failed=1; return 1; }; }\n' + "".join(f"{it}\n" for it in commands)
    ) + "exit $failed\n"
