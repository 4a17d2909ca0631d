"""A JSON Schema of pods with usual fields, in which no rule about the fields of pods finds a fault.

`prevalidate` adds it to the schema of a pod. It accepts no fields that few manifests have, and none whose values
a schema can hardly compare: the rules in `lint/core` check pods with them. A test changes the fields of
pods and compares both.
"""

from collections.abc import Iterable
from typing import Any

from policygen.core.label_grammar import SUBDOMAIN

Schema = dict[str, Any]

FIELD_PATHS = (
    "metadata.name", "metadata.namespace", "metadata.uid",
    "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
"""Fields of a pod that a variable can have as its value."""
LABEL_KEY: Schema = {
    "pattern": f"^({SUBDOMAIN}/)?([A-Za-z0-9][-A-Za-z0-9_.]{{0,61}})?[A-Za-z0-9]$",
    "maxLength": 253,
}
LABEL_VALUE: Schema = {"maxLength": 63, "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"}
LABELS: Schema = {
    "type": "object",
    "propertyNames": LABEL_KEY,
    "additionalProperties": {"type": "string", **LABEL_VALUE},
}

_NAME = {"pattern": f"^({SUBDOMAIN})?$", "maxLength": 253}
_COMPUTE = ["cpu", "ephemeral-storage", "memory"]


def _fields(**schemas: Any) -> Schema:
    """A mapping whose fields, if it has them, have these schemas."""
    return {"properties": schemas}


def _without(*names: str) -> Schema:
    """A mapping without these fields."""
    return {"properties": dict.fromkeys(names, False)}


def _with(**schemas: Any) -> Schema:
    """A mapping, not null, that needs these fields."""
    return {"type": "object", "required": [*schemas], "properties": schemas}


def _each(schema: Schema) -> Schema:
    """A list, or null, whose entries have this schema."""
    return {"items": schema}


def _one_of(names: Iterable[str]) -> Schema:
    """A mapping with at most one of these fields."""
    return {"anyOf": [_without(*(other for other in names if other != it)) for it in names]}


_EXPRESSION = {
    "required": ["key", "operator"],
    "properties": {"key": LABEL_KEY},
    "anyOf": [
        {
            "required": ["values"],
            "properties": {
                "operator": {"enum": ["In", "NotIn"]},
                "values": {"type": "array", "minItems": 1, "items": LABEL_VALUE},
            },
        },
        _fields(operator={"enum": ["DoesNotExist", "Exists"]}, values={"maxItems": 0}),
    ],
}
_LABELLED = {"propertyNames": LABEL_KEY, "additionalProperties": LABEL_VALUE}
_SELECTOR = _fields(matchExpressions=_each(_EXPRESSION), matchLabels=_LABELLED)
_NODES = _fields(matchExpressions=_each(_EXPRESSION), matchFields=False)
_PODS = _fields(
    topologyKey=LABEL_KEY,
    labelSelector=_SELECTOR,
    namespaceSelector=_SELECTOR,
    namespaces=False,
    matchLabelKeys=False,
    mismatchLabelKeys=False,
)
_WEIGHT = {"type": "integer", "minimum": 1, "maximum": 100}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _preferred(**schemas: Any) -> Schema:
    return _each({"required": ["weight"], "properties": {"weight": _WEIGHT, **schemas}})


_BY_PODS = {"properties": {_REQUIRED: _each(_PODS), _PREFERRED: _preferred(podAffinityTerm=_PODS)}}
_BY_NODES = {
    "properties": {
        _REQUIRED: _fields(nodeSelectorTerms=_each(_NODES)),
        _PREFERRED: _preferred(preference=_NODES),
    }
}
_AFFINITY = _fields(nodeAffinity=_BY_NODES, podAffinity=_BY_PODS, podAntiAffinity=_BY_PODS)
_SPREAD = {
    "required": ["maxSkew"],
    "properties": {
        "maxSkew": {"type": "integer", "minimum": 1},
        "labelSelector": _SELECTOR,
        "minDomains": False,
        "matchLabelKeys": False,
    },
}
_TOLERATION = {
    "allOf": [
        {
            "anyOf": [
                {
                    "required": ["operator"],
                    "properties": {
                        "key": {"anyOf": [LABEL_KEY, {"const": ""}]},
                        "operator": {"const": "Exists"},
                        "value": {"enum": ["", None]},
                    },
                },
                {
                    "required": ["key"],
                    "properties": {
                        "key": {"type": "string", **LABEL_KEY},
                        "operator": {"enum": ["", "Equal", None]},
                        "value": LABEL_VALUE,
                    },
                },
            ]
        },
        {"anyOf": [_without("tolerationSeconds"), _with(effect={"const": "NoExecute"})]},
    ]
}
_FILES = _each(_fields(path={"pattern": "^[^.]"}))
_TEXT = {"type": "string"}
_VOLUME = {
    "maxProperties": 2,  # the name and one source
    "properties": {
        "hostPath": _with(path={**_TEXT, "minLength": 1}),
        "secret": {"allOf": [_with(secretName=_TEXT), _fields(items=_FILES)]},
        "configMap": {"allOf": [_with(name=_TEXT), _fields(items=_FILES)]},
        **dict.fromkeys(("csi", "downwardAPI", "ephemeral", "image", "iscsi", "projected"), False),
    },
}

_KEY = _with(name=_TEXT, key=_TEXT)
_VARIABLE = {
    "properties": {
        "name": {"pattern": "^[ -<>-~]+$"},
        "valueFrom": {
            "minProperties": 1,
            "maxProperties": 1,
            "properties": {
                "configMapKeyRef": _KEY,
                "secretKeyRef": _KEY,
                "fieldRef": {
                    **_with(fieldPath={"enum": [*FIELD_PATHS]}),
                    "additionalProperties": {"const": "v1"},  # apiVersion
                },
                "resourceFieldRef": False,
                "fileKeyRef": False,
            },
        },
    },
    "anyOf": [_without("value"), _without("valueFrom")],
}
_NAMED = _with(name={**_TEXT, "minLength": 1, **_NAME})
_VARIABLES = {
    "type": "object",
    "anyOf": [
        {"required": [used], "properties": {used: _NAMED, other: False}}
        for used, other in (("configMapRef", "secretRef"), ("secretRef", "configMapRef"))
    ],
}
_PORT = {"type": "integer", "minimum": 1, "maximum": 65535}
_PORTS = {
    "items": {
        "required": ["containerPort"],
        "properties": {"containerPort": _PORT, "hostPort": False},
    },
    "anyOf": [{"maxItems": 1}, {"items": _without("name")}],  # names must differ
}
_WHOLE = {"type": ["integer", "string"], "pattern": "^[0-9]+$"}
_AMOUNTS = {
    "properties": dict.fromkeys(_COMPUTE, True),
    "additionalProperties": _WHOLE,
    "propertyNames": {
        "anyOf": [
            {"enum": _COMPUTE},
            {"allOf": [LABEL_KEY, {"pattern": "/"}], "not": {"pattern": "^requests\\."}},
        ]
    },
}
_MOUNT = {
    "properties": {
        "subPath": {"pattern": "^([-A-Za-z0-9_]+([./][-A-Za-z0-9_]+)*)?$"},
        "subPathExpr": False,
        "mountPropagation": False,
        "recursiveReadOnly": False,
    }
}
_PROFILE = _fields(type={"enum": ["RuntimeDefault", "Unconfined"]}, localhostProfile=False)
_PROFILES = {"seccompProfile": _PROFILE, "appArmorProfile": _PROFILE, "windowsOptions": False}
_RIGHTS = {
    "properties": {
        **_PROFILES,
        "procMount": False,
        "capabilities": _fields(add=_each({"not": {"const": "CAP_SYS_ADMIN"}})),
    },
    "anyOf": [
        _fields(privileged={"enum": [False, None]}),
        _fields(allowPrivilegeEscalation={"enum": [True, None]}),
    ],
}
_ADDRESS = _with(port={"type": ["integer", "string"]})
_HANDLER = {
    "properties": {
        "exec": _with(command={"type": "array"}),
        "grpc": _ADDRESS,
        "httpGet": {
            "allOf": [
                _ADDRESS,
                _fields(httpHeaders=_each(_fields(name={"pattern": "^[-A-Za-z0-9]+$"}))),
            ]
        },
        "sleep": False,
        "tcpSocket": _ADDRESS,
    },
    **_one_of(("exec", "grpc", "httpGet", "tcpSocket")),
}
_CONTAINER = {
    "properties": {
        "env": _each(_VARIABLE),
        "envFrom": _each(_VARIABLES),
        "image": {"pattern": r"^\S(.*\S)?$"},
        "lifecycle": False,
        "livenessProbe": _HANDLER,
        "ports": _PORTS,
        "readinessProbe": {"allOf": [_HANDLER, _without("terminationGracePeriodSeconds")]},
        "resizePolicy": False,
        "resources": _fields(claims=False, limits=_AMOUNTS, requests=_AMOUNTS),
        "restartPolicy": {"enum": ["Always", "Never", "OnFailure"]},
        "restartPolicyRules": False,
        "securityContext": _RIGHTS,
        "startupProbe": _HANDLER,
        "volumeDevices": False,
        "volumeMounts": _each(_MOUNT),
    }
}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_RARE = (
    "activeDeadlineSeconds", "dnsConfig", "hostnameOverride", "os", "overhead", "preemptionPolicy", "priority",
    "resourceClaims", "resources", "schedulingGates",
)  # fmt: skip

SCHEMA: Schema = {
    "properties": {
        **dict.fromkeys(_RARE, False),
        "affinity": _AFFINITY,
        "containers": {"minItems": 1, "items": _CONTAINER},
        "dnsPolicy": {"not": {"const": "None"}},
        "hostNetwork": {"enum": [False, None]},
        "hostUsers": {"enum": [True, None]},
        "initContainers": _each({"allOf": [_CONTAINER, _without(*_PROBES)]}),
        "nodeName": _NAME,
        "nodeSelector": _LABELLED,
        "priorityClassName": _NAME,
        "securityContext": {
            "properties": {**_PROFILES, "seLinuxChangePolicy": False, "sysctls": False}
        },
        "serviceAccount": _NAME,
        "serviceAccountName": _NAME,
        "shareProcessNamespace": {"enum": [False, None]},
        "tolerations": _each(_TOLERATION),
        "topologySpreadConstraints": _each(_SPREAD),
        "volumes": _each(_VOLUME),
    }
}
"""Of the `spec` of a pod of which the schema of its kind accepts all types."""

TEMPLATE: Schema = {
    "properties": {
        "metadata": _fields(
            annotations={"propertyNames": LABEL_KEY},
            labels=_LABELLED,
        )
    }
}
"""Of a pod template, likewise."""
