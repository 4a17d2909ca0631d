"""What the running servers accept, for offline use: compact structural schemas without prose.

Custom kinds come from their CRDs, built-in kinds from OpenAPI v3 with every reference resolved.
There is one file for each kind and served version, and an index with the versions of the servers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from policygen.api_validation.workload_code import FILE

from . import probing
from .client import Client
from .upstream import KARPENTER, KUEUE, OPERATORS, VOLCANO

FOLDER = Path(__file__).parents[2] / "schemas" / "cluster"
INDEX = "index.json"
COMMAND = "python -m tests.servers facts"
WIDTH = 100
"""Columns of a written file. A value that fits is on one line, so that changes give short diffs."""

BUILT_IN: dict[str, tuple[str, ...]] = {
    "v1": (
        "ConfigMap", "LimitRange", "Namespace", "Node", "Pod", "ResourceQuota", "ServiceAccount",
    ),
    "admissionregistration.k8s.io/v1": (
        "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
        "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
    ),
    "autoscaling/v1": ("HorizontalPodAutoscaler",),
    "autoscaling/v2": ("HorizontalPodAutoscaler",),
    "apps/v1": ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "batch/v1": ("CronJob", "Job"),
    "policy/v1": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "scheduling.k8s.io/v1": ("PriorityClass",),
}  # fmt: skip
"""The built-in kinds that are rendered, or that hold a pool's pods and nodes."""

META = "meta/v1/ObjectMeta.json"
"""Every kind's metadata, which Kubernetes' own types read, also for custom kinds."""

CUSTOM_GROUPS = ("kueue.x-k8s.io", "volcano.sh", "karpenter.sh")
"""Groups of the CRDs that are read, each with its subgroups."""
OPERATOR_GROUPS = (
    "jobset.x-k8s.io",
    "kubeflow.org",
    "leaderworkerset.x-k8s.io",
    "ray.io",
    "trainer.kubeflow.org",
    "workload.codeflare.dev",
)
"""Groups of operators. The pods in their templates are not recorded, because lint checks these itself."""

Schema = dict[str, Any]

_PROSE = frozenset({"description", "example", "externalDocs", "title"})
_CLIENTS = frozenset(
    {
        "x-kubernetes-group-version-kind",
        "x-kubernetes-patch-merge-key",
        "x-kubernetes-patch-strategy",
        "x-kubernetes-unions",
    }
)
"""What only a client reads."""

_BY_NAME: dict[str, Schema] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"x-policygen-type": "quantity"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"x-kubernetes-int-or-string": True},
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    },
}
"""Types that Go code parses, and of which OpenAPI describes little."""

TAKEN_WITHOUT: dict[str, frozenset[str]] = {
    "io.k8s.api.batch.v1.PodFailurePolicy": frozenset({"rules"}),
    "io.k8s.api.core.v1.HTTPHeader": frozenset({"value"}),
    "io.k8s.api.core.v1.LimitRangeSpec": frozenset({"limits"}),
    "io.k8s.api.core.v1.Sysctl": frozenset({"value"}),
}
"""What OpenAPI calls required and the server takes without; the differential test shows each."""

DROPPED: dict[str, frozenset[str]] = {"io.k8s.api.core.v1.Lifecycle": frozenset({"stopSignal"})}
"""Fields that the server drops, as their feature gate is off by default, so that it takes any value."""

STATUS_DECODED = ("Namespace", "Node")
"""Kinds whose status users write, such as Nodes of tools that simulate them. The server only decodes it."""

OPAQUE: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""A status that the server drops from what users send."""


def collect(client: Client) -> dict[str, Any]:
    """Every file's content, by its path below `schemas/cluster`."""
    files: dict[str, Any] = {}
    for fact in (*_custom(client), *_built_in(client)):
        folder = fact["group"] or "core"
        files[f"{folder}/{fact['version']}/{fact['kind']}.json"] = fact
    core = _definitions(client, "v1")
    files[META] = _resolved(
        core["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"], core, ("ObjectMeta",)
    )
    kinds: dict[str, list[str]] = {}
    for path in sorted(files.keys() - {META}):
        group, version, name = path.split("/")
        kinds.setdefault(f"{group}/{version}", []).append(name.removesuffix(".json"))
    built_in = {
        kind: files[f"{kind[0] if '/' in kind[0] else f'core/{kind[0]}'}/{kind[1]}.json"]["schema"]
        for kind in probing.KINDS
    }
    files[INDEX] = {"versions": _versions(client), "kinds": kinds}
    files[FILE] = probing.collect(client, built_in)
    return files


def written(content: Any) -> str:
    """A file's text: sorted keys, a line for what fits on one."""
    return _lines(content, "", 0) + "\n"


def differences(files: Mapping[str, Any]) -> list[str]:
    """Paths below `schemas/cluster` whose committed text differs from the servers' current schemas."""
    wanted = {path: written(content) for path, content in files.items()}
    there = {
        path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8")
        for path in FOLDER.rglob("*.json")
    }
    return sorted(path for path in wanted | there if wanted.get(path) != there.get(path))


def write(files: Mapping[str, Any]) -> list[str]:
    """Make the committed files what they should be; which changed."""
    changed = differences(files)
    for name in changed:
        path = FOLDER / name
        if name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written(files[name]), encoding="utf-8")
        else:
            path.unlink()
    return changed


def _versions(client: Client) -> dict[str, str]:
    """Kubernetes' version from the server; those of the others from their pinned Go modules."""
    said = {
        "kubernetes": client.get("/version").body["gitVersion"],
        "kueue": KUEUE.version,
        "volcano": VOLCANO.version,
        "karpenter": KARPENTER.version,
        **{it.name: it.version for it in OPERATORS},
    }
    return {name: version.removeprefix("v") for name, version in said.items()}


def _custom(client: Client) -> Iterator[dict[str, Any]]:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for crd in client.get(path).body["items"]:
        spec = crd["spec"]
        is_operator = spec["group"] in OPERATOR_GROUPS
        own = f".{spec['group']}".endswith(tuple(f".{group}" for group in CUSTOM_GROUPS))
        if not own and not is_operator:
            continue
        for version in spec["versions"]:
            if not version["served"]:
                continue
            schema = _bare(version["schema"]["openAPIV3Schema"])
            if is_operator:
                schema = _without_pods(schema)
                # Of TrainJobs, about the name, which the server can generate.
                schema.pop("x-kubernetes-validations", None)
            dropped = "status" in version.get("subresources", {})
            if dropped and "status" in schema["properties"]:
                schema["properties"]["status"] = OPAQUE
            yield {
                "group": spec["group"],
                "version": version["name"],
                "kind": spec["names"]["kind"],
                "plural": spec["names"]["plural"],
                "namespaced": spec["scope"] == "Namespaced",
                "custom": True,
                "statusDropped": dropped,
                "schema": schema,
            }


def _built_in(client: Client) -> Iterator[dict[str, Any]]:
    for api_version, kinds in BUILT_IN.items():
        group, _, version = api_version.rpartition("/")
        definitions = _definitions(client, api_version)
        names = {
            (entry["group"], entry["version"], entry["kind"]): name
            for name, definition in definitions.items()
            for entry in definition.get("x-kubernetes-group-version-kind", ())
        }
        for kind in kinds:
            definition = definitions[names[group, version, kind]]
            properties = {
                name: OPAQUE if name == "status" else _resolved(part, definitions, (kind,))
                for name, part in definition["properties"].items()
            }
            decoded = kind in STATUS_DECODED
            if decoded:
                status = _resolved(definition["properties"]["status"], definitions, (kind,))
                properties["status"] = _types_only(status)
            resource = client.resource(api_version, kind)
            yield {
                "group": group,
                "version": version,
                "kind": kind,
                "plural": resource.plural,
                "namespaced": resource.namespaced,
                "custom": False,
                "statusDropped": "status" in properties and not decoded,
                "schema": {
                    **_bare({k: v for k, v in definition.items() if k != "properties"}),
                    "properties": {**properties, "metadata": {"type": "object"}},
                },
            }


def _definitions(client: Client, api_version: str) -> dict[str, Schema]:
    prefix = "apis" if "/" in api_version else "api"
    answer = client.get(f"/openapi/v3/{prefix}/{api_version}")
    definitions: dict[str, Schema] = answer.body["components"]["schemas"]
    return definitions


def _bare(schema: Schema) -> Schema:
    """A structural schema with the keys that validate, and without descriptions for people."""
    kept: Schema = {}
    for key, value in schema.items():
        if key in _PROSE or key in _CLIENTS:
            continue
        if key == "properties":
            kept[key] = {name: _bare(part) for name, part in value.items()}
        elif key in {"additionalProperties", "items", "not"} and isinstance(value, dict):
            kept[key] = _bare(value)
        elif key in {"allOf", "anyOf", "oneOf"}:
            kept[key] = [_bare(part) for part in value]
        else:
            kept[key] = value
    return kept


def _without_pods(schema: Schema) -> Schema:
    """A schema that accepts everything in the `spec` of a pod template, and marks it."""
    if "containers" in schema.get("properties", ()):
        return {**OPAQUE, "x-policygen-pod": True}
    kept = dict(schema)
    for key, value in schema.items():
        if key == "properties":
            kept[key] = {name: _without_pods(part) for name, part in value.items()}
        elif key in {"additionalProperties", "items"} and isinstance(value, dict):
            kept[key] = _without_pods(value)
    return kept


def _resolved(schema: Schema, definitions: Mapping[str, Schema], within: tuple[str, ...]) -> Schema:
    """The same as `_bare`, of OpenAPI, where each reference is replaced by what it means."""
    parts = [schema, *schema.get("allOf", ())]
    kept: Schema = {}
    for part in parts:
        if reference := part.get("$ref"):
            name = reference.rsplit("/", 1)[1]
            if name in within:
                raise ValueError(f"{' > '.join((*within, name))}: a schema that holds itself")
            if name in _BY_NAME:
                kept.update(_BY_NAME[name])
            else:
                kept.update(_resolved(definitions[name], definitions, (*within, name)))
                _relax(kept, TAKEN_WITHOUT.get(name, frozenset()))
                for field in DROPPED.get(name, ()):
                    dropped = kept["properties"][field]
                    dropped["x-policygen-dropped"] = dropped.pop("enum")
    own = {key: value for key, value in schema.items() if key not in {"$ref", "allOf"}}
    for key, value in _bare(own).items():
        if key == "properties":
            kept[key] = {
                name: _resolved(part, definitions, within) for name, part in own[key].items()
            }
        elif key in {"additionalProperties", "items"} and isinstance(value, dict):
            kept[key] = _resolved(own[key], definitions, within)
        else:
            kept[key] = value
    return kept


def _types_only(schema: Schema) -> Schema:
    """A schema without what only code checks: required fields and values."""
    kept: Schema = {}
    for key, value in schema.items():
        if key == "properties":
            kept[key] = {name: _types_only(part) for name, part in value.items()}
        elif key in {"additionalProperties", "items"} and isinstance(value, dict):
            kept[key] = _types_only(value)
        elif key not in {"required", "enum"}:
            kept[key] = value
    return kept


def _relax(schema: Schema, optional: frozenset[str]) -> None:
    required = [name for name in schema.pop("required", ()) if name not in optional]
    if required:
        schema["required"] = required


def _lines(value: Any, indent: str, before: int) -> str:
    """JSON of a value that starts in column `before` of a line indented by `indent`."""
    flat = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(", ", ": "))
    if before + len(flat) < WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    inner = f"{indent} "
    if isinstance(value, dict):
        opened, closed = "{}"
        parts = []
        for key in sorted(value):
            name = f"{json.dumps(key, ensure_ascii=False)}: "
            parts.append(name + _lines(value[key], inner, len(inner) + len(name)))
    else:
        opened, closed = "[]"
        parts = [_lines(entry, inner, len(inner)) for entry in value]
    return f"{opened}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{closed}"
