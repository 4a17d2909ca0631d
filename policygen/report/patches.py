"""Writes the patches of objects: as JSON patches, and as a component of kustomize."""

import json
import re
from collections.abc import Sequence
from typing import Any, TextIO

from policygen.kubernetes.object import Object
from policygen.patch.additions import operations
from policygen.patch.object_patch import ObjectPatch
from policygen.report.phrases import write_json


def json_patches(patches: Sequence[ObjectPatch], out: TextIO) -> None:
    """Write a list with the target and the JSON patch (RFC 6902) of each object, and a newline."""
    found = [{"target": _target(it.object), "patch": operations(it.added)} for it in patches]
    write_json(found, out)


def kustomize(patches: Sequence[ObjectPatch], out: TextIO) -> None:
    """Write a Component, which adds the patches to the objects of a kustomization.

    The name and namespace of a target are anchored regular expressions.
    Source: sigs.k8s.io/kustomize/api/types, Selector.
    """
    out.write(
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
        f"patches:{'' if patches else ' []'}\n"
    )
    for it in patches:
        out.write("  - target:\n")
        for key, value in _target(it.object).items():
            exact = re.escape(value).replace(r"\-", "-") if key in _PATTERNS else value
            out.write(f"      {key}: {json.dumps(exact)}\n")
        out.write("    patch: |-\n")
        out.writelines(f"      - {json.dumps(one)}\n" for one in operations(it.added))


_PATTERNS = ("name", "namespace")


def _target(object_: Object) -> dict[str, Any]:
    """What identifies an object; a part that the manifest does not have is missing."""
    parts = {
        "group": object_.group,
        "version": object_.version,
        "kind": object_.kind,
        "name": object_.name,
        "namespace": object_.namespace,
    }
    return {key: value for key, value in parts.items() if value}
