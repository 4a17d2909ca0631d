"""Families of pods for `agreement`: what containers run, their environment and volumes, and whose rights they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from .client import Object
from .families import ABSENT, AMOUNTS, COUNTS, FLAGS, Family, Values

_PORTS = (80, 80, "http", 0, 65535, 65536, -1, "80", "HTTP", "a" * 16, "", None, ABSENT, 1.5)
_GET = {"path": "/", "port": 80}
_HANDLERS: Sequence[Any] = ("exec", "httpGet", "tcpSocket", "grpc")
_SCHEMES = ("HTTP", "HTTPS", "http", "", None, ABSENT, ABSENT)
_HEADERS = ([{"name": "A", "value": "b"}], [{"name": "a b", "value": ""}], [{"name": "", "value": "a"}], [{"name": "a"}], [{"value": "a"}], [], None, ABSENT, ABSENT)  # fmt: skip
_KEYS = ("a", "A_b-.c", "..", "", "a/b", "a b", "x" * 254, None, ABSENT)
_OBJECTS = ("a", "a", "a.b", "A", "", "a_b", "x" * 254, None, ABSENT)
_VARIABLES = ("A", "A", "a.b", "a-b", "1", "a b", "a=b", "", "\u00e4", None, 1, "A\n", "~")
_PATHS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.podIP",
    "status.podIPs", "status.hostIPs", "metadata.labels", "metadata.annotations", "metadata.labels['a']", "metadata.labels['a b']",
    "metadata.annotations['a.b/c']", "metadata.annotations['A']", "metadata.annotations['a b']", "metadata.labels[a]", "metadata.labels['']",
    "metadata.nam", "spec.host", "", "status.phase", None, ABSENT, "Metadata.name", "metadata.labels['a'", "spec.restartPolicy",
)  # fmt: skip
_RESOURCES = (
    "limits.cpu", "requests.memory", "limits.ephemeral-storage", "requests.hugepages-2Mi", "limits.nvidia.com/gpu", "cpu", "", None,
    "limits.gpu", "limits.hugepages-", ABSENT, "limits.storage", "requests.hugepages-3Mi", "requests.",
)  # fmt: skip
_DIVISORS = ("1", "1m", "0", "1Mi", "1Ki", "2", "2m", "1k", "1G", 1, "a", "-1", "", None, ABSENT, ABSENT, "1Ei", "10", "1E", "1M", "1000m", "1024")  # fmt: skip
_MODES = (0, 0o777, 0o1000, -1, 420, "0644", None, ABSENT, ABSENT, ABSENT)
_ITEM_PATHS = ("a", "a/b", "/a", "../a", "a/..", "..a", "a/..b", "", ".", None, ABSENT, "a/../b")


def _of(random: Random, **values: Sequence[Any]) -> Object:
    """A mapping with a value of each."""
    drawn = {name: random.choice(each) for name, each in values.items()}
    return {name: value for name, value in drawn.items() if value is not ABSENT}


def _wrong(random: Random, share: float, *values: Any) -> Any:
    """A value that no list or mapping usually has, at times; otherwise `...`."""
    return random.choice(values) if random.random() < share else ABSENT


def _handler(random: Random, kind: str) -> Any:
    if random.random() < 0.06:
        return random.choice((None, {}, [], "a"))
    if kind == "exec":
        return {"command": random.choice((["a"], ["a"], [], None, [""], "a", [1]))}
    if kind == "httpGet":
        return _of(
            random, path=("/", "a", "", None, ABSENT), port=_PORTS, scheme=_SCHEMES, httpHeaders=_HEADERS,
            host=("a", "", "a b", None, ABSENT, ABSENT),
        )  # fmt: skip
    if kind == "tcpSocket":
        return _of(random, port=_PORTS, host=("a", "", ABSENT))
    if kind == "sleep":
        return _of(random, seconds=(0, 1, 30, 31, 1000, -1, None, "1", ABSENT))
    return _of(
        random, port=(80, 0, 65536, "80", -1, None, ABSENT), service=("a", "", None, ABSENT, "a b")
    )


def probe(random: Random) -> Any:
    """A probe; at times with several handlers or none."""
    if random.random() < 0.05:
        return random.choice((None, {}, [], ABSENT))
    made = {
        kind: _handler(random, kind)
        for kind in random.sample(_HANDLERS, random.choice((0, 1, 1, 1, 1, 1, 1, 2)))
    }
    for name in (
        "initialDelaySeconds", "periodSeconds", "timeoutSeconds", "failureThreshold", "successThreshold", "terminationGracePeriodSeconds",
    ):  # fmt: skip
        if random.random() < 0.12:
            made[name] = random.choice(COUNTS)
    return {name: value for name, value in made.items() if value is not ABSENT}


def lifecycle(random: Random) -> Any:
    if random.random() < 0.08:
        return random.choice((None, {}, [], ABSENT, {"strange": {}}))
    made: Object = {}
    for hook in random.sample(("postStart", "preStop"), random.choice((1, 1, 2))):
        kinds = ("exec", "httpGet", "tcpSocket", "sleep")
        chosen = random.sample(kinds, random.choice((0, 1, 1, 1, 1, 2)))
        made[hook] = {kind: _handler(random, kind) for kind in chosen}
    if random.random() < 0.15:
        made["stopSignal"] = random.choice(("SIGTERM", "SIGUSR1", "TERM", "", "sigterm", "SIGRTMIN", None))  # fmt: skip
    return made


def _source(random: Random) -> Any:
    if random.random() < 0.08:
        return random.choice((None, {}, [], "a", {"strange": {}}))
    makers = {
        "fieldRef": lambda: _of(random, fieldPath=_PATHS, apiVersion=("v1", "", "v2", "a/b", ABSENT, ABSENT, ABSENT, ABSENT, ABSENT)),
        "resourceFieldRef": lambda: _of(random, resource=_RESOURCES, divisor=_DIVISORS, containerName=("main", "gone", "", ABSENT, ABSENT)),
        "configMapKeyRef": lambda: _of(random, name=_OBJECTS, key=_KEYS, optional=(True, None, ABSENT)),
        "secretKeyRef": lambda: _of(random, name=_OBJECTS, key=_KEYS),
    }  # fmt: skip
    chosen = random.sample(sorted(makers), random.choice((1, 1, 1, 1, 1, 2)))
    return {name: makers[name]() for name in chosen}


def environment(random: Random) -> Any:
    """Variables with values or sources; at times with both."""
    if (wrong := _wrong(random, 0.05, None, [], {}, [None], "a")) is not ABSENT:
        return wrong
    found = []
    for _ in range(random.choice((1, 1, 2))):
        made = _of(random, name=_VARIABLES)
        roll = random.random()
        if roll < 0.3:
            made["value"] = random.choice(("a", "", None, 1, True, "$(A)", {}))
        if roll > 0.2:
            made["valueFrom"] = _source(random)
        found.append(made)
    return found


def environment_from(random: Random) -> Any:
    if (wrong := _wrong(random, 0.08, None, [], {}, [None], [{}])) is not ABSENT:
        return wrong
    made = _of(random, prefix=(*_VARIABLES, ABSENT, ABSENT, ABSENT))
    sources = ("configMapRef", "secretRef")
    for name in random.sample(sources, random.choice((0, 1, 1, 1, 1, 2))):
        made[name] = random.choice(({}, None, _of(random, name=_OBJECTS), _of(random, name=_OBJECTS)))  # fmt: skip
    return [made]


def mounts(random: Random) -> Any:
    if (wrong := _wrong(random, 0.05, None, [], {}, [None], [{}])) is not ABSENT:
        return wrong
    return [
        _of(
            random,
            name=("data", "data", "data", "other", "block", "gone", "", None, ABSENT),
            mountPath=("/a", "/a", "/b", "a", "/a:b", "", "..", None, ABSENT),
            subPath=(*[ABSENT] * 6, "a", "/a", "../a", "a/..", "", "a:b", "$(A)"),
            subPathExpr=(*[ABSENT] * 9, "$(A)", "/a", "../a", ""),
            readOnly=(ABSENT, ABSENT, *FLAGS[:4]),
            recursiveReadOnly=(*[ABSENT] * 6, "Disabled", "Enabled", "IfPossible", "enabled", "", None),
            mountPropagation=(*[ABSENT] * 6, "None", "HostToContainer", "Bidirectional", "none", "", None),
        )
        for _ in range(random.choice((1, 1, 2)))
    ]  # fmt: skip


def devices(random: Random) -> Any:
    if (wrong := _wrong(random, 0.05, None, [], {}, [None], [{}])) is not ABSENT:
        return wrong
    return [
        _of(
            random,
            name=("block", "block", "block", "data", "gone", "", None, ABSENT),
            devicePath=("/a", "/a", "/b", "a", "/../a", "", None, ABSENT),
        )
        for _ in range(random.choice((1, 1, 2)))
    ]


def _items(random: Random) -> Any:
    if random.random() < 0.1:
        return random.choice(([], None, {}, [{}], [None]))
    return [
        _of(random, key=_KEYS, path=_ITEM_PATHS, mode=_MODES) for _ in range(random.choice((1, 2)))
    ]


def _downward(random: Random) -> Any:
    if random.random() < 0.1:
        return random.choice(([], None, {}, [{}]))
    made = _of(random, path=_ITEM_PATHS, mode=_MODES)
    roll = random.random()
    if roll < 0.6:
        made["fieldRef"] = _of(random, fieldPath=_PATHS)
    if roll > 0.5:
        made["resourceFieldRef"] = _of(random, resource=_RESOURCES, divisor=_DIVISORS, containerName=("main", "main", "gone", "", ABSENT))  # fmt: skip
    return [made]


def _projection(random: Random) -> Object:
    token = _of(random, path=_ITEM_PATHS, audience=("a", "", ABSENT), expirationSeconds=(600, 599, 1 << 32, (1 << 32) + 1, None, ABSENT, -1, "600"))  # fmt: skip
    makers = {
        "secret": lambda: {**_of(random, name=_OBJECTS), "items": _items(random)},
        "configMap": lambda: {**_of(random, name=_OBJECTS), "items": _items(random)},
        "downwardAPI": lambda: {"items": _downward(random)},
        "serviceAccountToken": lambda: token,
    }
    chosen = random.sample(sorted(makers), random.choice((0, 1, 1, 1, 1, 1, 2)))
    return {name: makers[name]() for name in chosen}


def _claim(random: Random) -> Any:
    spec: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    for name, values in (
        ("accessModes", ([], None, ABSENT, ["ReadWriteOncePod"], ["ReadWriteOncePod", "ReadWriteOnce"], ["rwo"], ["ReadOnlyMany", "ReadWriteMany"], ["ReadWriteOnce"] * 2)),
        ("resources", (None, {}, {"requests": {}}, {"requests": {"storage": "0"}}, {"requests": {"storage": "-1"}}, {"requests": {"storage": "1Gi"}, "limits": {"storage": "1Mi"}}, {"requests": {"cpu": 1}}, {"requests": {"storage": 1.5}}, {"limits": {"storage": "2Gi"}})),
        ("storageClassName", ("a", "A", "", None, "a b")),
        ("volumeMode", ("Block", "Filesystem", "block", "", None)),
        ("selector", ({}, None, {"matchLabels": {"a b": "c"}}, {"matchExpressions": [{"key": "a", "operator": "In"}]}, {"matchExpressions": [{"key": "a", "operator": "in", "values": ["a"]}]})),
        ("dataSource", ({"kind": "PersistentVolumeClaim", "name": "a"}, {"kind": "A", "name": "a"}, {"kind": "PersistentVolumeClaim", "name": ""}, {}, None, {"apiGroup": "a.b", "kind": "A", "name": "a"}, {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"})),
        ("volumeName", ("a", "", None, 1)),
        ("volumeAttributesClassName", ("a", "A", "", None)),
    ):  # fmt: skip
        if random.random() < 0.2:
            spec[name] = random.choice(values)
    spec = {name: value for name, value in spec.items() if value is not ABSENT}
    metadata = random.choice((ABSENT, ABSENT, ABSENT, {"labels": {"a": "b"}}, {"labels": {"a": "b c"}}, {"name": "a"}, {"annotations": {"a b": ""}}, {"namespace": "a"}, {}))  # fmt: skip
    made = {"spec": random.choice((spec, spec, spec, spec, spec, spec, {}, None)), "metadata": metadata}  # fmt: skip
    return {name: value for name, value in made.items() if value is not ABSENT}


def volumes(random: Random) -> Any:
    """Up to three volumes, which containers mount as `data`, `other` and `block`."""
    if (wrong := _wrong(random, 0.04, None, [], {}, [None], ABSENT)) is not ABSENT:
        return wrong
    found = []
    for _ in range(random.choice((1, 1, 2))):
        made = _of(random, name=("data", "data", "data", "data", "data", "other", "Data", "a.b", "x" * 64, "", None, ABSENT))  # fmt: skip
        for kind in random.sample(sorted(_SOURCES), random.choice((0, 1, 1, 1, 1, 1, 1, 1, 2))):
            source = _SOURCES[kind](random)
            made[kind] = random.choice((source,) * 12 + ({}, None, []))
        found.append(made)
    return [{"name": "block", "persistentVolumeClaim": {"claimName": "a"}}, *found]


_SOURCES = {
    "emptyDir": lambda random: _of(random, medium=("", "Memory", "HugePages", "HugePages-2Mi", "HugePages-a", "memory", None, ABSENT), sizeLimit=(*AMOUNTS, ABSENT)),
    "hostPath": lambda random: _of(random, path=("/a", "/a", "a", "/a/../b", "..", "", None, ABSENT), type=("", "Directory", "DirectoryOrCreate", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice", "directory", None, ABSENT)),
    "configMap": lambda random: {**_of(random, name=_OBJECTS, defaultMode=_MODES, optional=(True, ABSENT)), "items": _items(random)},
    "secret": lambda random: {**_of(random, secretName=_OBJECTS, defaultMode=_MODES), "items": _items(random)},
    "persistentVolumeClaim": lambda random: _of(random, claimName=_OBJECTS, readOnly=(True, False, ABSENT)),
    "downwardAPI": lambda random: {**_of(random, defaultMode=_MODES), "items": _downward(random)},
    "projected": lambda random: {**_of(random, defaultMode=_MODES), "sources": random.choice(([], None, [_projection(random)], [_projection(random)], [_projection(random), _projection(random)]))},
    "nfs": lambda random: _of(random, server=("a", "", None, ABSENT), path=("/a", "/a", "a", "", "/../a", None, ABSENT)),
    "csi": lambda random: _of(random, driver=("a.b", "A.b", "a", "", "a b", "x" * 64, None, ABSENT), nodePublishSecretRef=(ABSENT, ABSENT, {"name": "a"}, {"name": ""}, {"name": "A"}, {}, None), fsType=("ext4", "", ABSENT)),
    "ephemeral": lambda random: {"volumeClaimTemplate": _claim(random)},
    "image": lambda random: _of(random, reference=("a", "", " a", None, ABSENT), pullPolicy=("Always", "Never", "IfNotPresent", "always", "", None, ABSENT)),
    "iscsi": lambda random: _of(random, targetPortal=("a", "", ABSENT), iqn=("iqn.2015-02.example.com:test", "iqn.a", "eui.0123456789abcdef", "naa.a", "a", "", ABSENT), lun=(0, 255, 256, -1, ABSENT), portals=(ABSENT, [])),
}  # fmt: skip

_PROFILES = (
    {"type": "RuntimeDefault"}, {"type": "Unconfined"}, {"type": "Localhost", "localhostProfile": "a"}, {"type": "Localhost"}, {"type": "RuntimeDefault", "localhostProfile": "a"},
    {"type": "Localhost", "localhostProfile": "../a"}, {"type": "Localhost", "localhostProfile": "/a"}, {"type": "Localhost", "localhostProfile": ""}, {"type": "localhost"}, {"type": ""}, {}, None,
    {"localhostProfile": "a"}, {"type": "Localhost", "localhostProfile": " a "}, {"type": "Localhost", "localhostProfile": "x" * 4096},
)  # fmt: skip
_IDS = (0, 1, 1000, (1 << 31) - 1, 1 << 31, -1, "1", None, 1.5)
_CONTEXT: Mapping[str, Values] = {
    "runAsUser": _IDS,
    "runAsGroup": _IDS,
    "runAsNonRoot": FLAGS,
    "seccompProfile": _PROFILES,
    "appArmorProfile": _PROFILES,
    "seLinuxOptions": ({}, None, {"level": "s0"}, {"level": 1}, {"strange": "a"}),
    "windowsOptions": (
        {}, None, {"runAsUserName": "a"}, {"runAsUserName": ""}, {"runAsUserName": "a\\b"}, {"runAsUserName": "a\\b\\c"}, {"runAsUserName": "x" * 300}, {"hostProcess": True}, {"hostProcess": False},
        {"gmsaCredentialSpecName": "a"}, {"gmsaCredentialSpecName": "A"}, {"gmsaCredentialSpec": ""}, {"gmsaCredentialSpec": "a"}, {"runAsUserName": "."}, {"runAsUserName": "\\a"}, {"runAsUserName": "a b"},
    ),
}  # fmt: skip
_CAPABILITIES = ({}, None, {"add": ["SYS_ADMIN"]}, {"add": ["CAP_SYS_ADMIN"]}, {"add": ["NET_ADMIN"]}, {"drop": ["ALL"]}, {"add": [""]}, {"add": [1]}, {"add": "a"}, {"added": []})  # fmt: skip
_OF_CONTAINER: Mapping[str, Values] = {
    **_CONTEXT,
    "privileged": FLAGS,
    "allowPrivilegeEscalation": FLAGS,
    "readOnlyRootFilesystem": FLAGS,
    "procMount": ("Default", "Unmasked", "default", "", None),
    "capabilities": _CAPABILITIES,
}
_OF_POD: Mapping[str, Values] = {
    **_CONTEXT,
    "fsGroup": _IDS,
    "fsGroupChangePolicy": ("Always", "OnRootMismatch", "always", "", None),
    "supplementalGroups": ([], None, [1], [-1], [1 << 31], ["1"], [1, 1]),
    "supplementalGroupsPolicy": ("Merge", "Strict", "merge", "", None),
    "seLinuxChangePolicy": ("MountOption", "Recursive", "recursive", "", None),
    "sysctls": (
        [], None, [{"name": "kernel.shm_rmid_forced", "value": "1"}], [{"name": "net.ipv4.tcp_syncookies", "value": ""}], [{"name": "a b", "value": "1"}], [{"name": "a"}] * 2,
        [{"name": "", "value": "1"}], [{"name": "net/ipv4/a", "value": "1"}], [{"name": "net.core.somaxconn", "value": "1"}], [{"value": "1"}], [{"name": "A", "value": "1"}],
        [{"name": "kernel.sem", "value": "a"}], [{"name": "a/b.c", "value": "1"}], [{"name": "x" * 254, "value": "1"}], [{"name": "net.a-b_c", "value": "1"}],
    ),
    "strange": (1, None),
}  # fmt: skip
_RUNS: Mapping[str, Values] = {
    "livenessProbe": probe,
    "readinessProbe": probe,
    "startupProbe": probe,
    "lifecycle": lifecycle,
    "env": environment,
    "envFrom": environment_from,
    "imagePullPolicy": ("Always", "Never", "IfNotPresent", "always", "", None),
    "image": ("a", "", " a", "a ", None, ABSENT, "A:b"),
    "command": ([], None, ["a"], [""], "a", [1]),
    "workingDir": ("/a", "a", "", None),
    "terminationMessagePath": ("/a", "a", "", None),
    "terminationMessagePolicy": ("File", "FallbackToLogsOnError", "file", "", None),
    "stdin": FLAGS,
    "tty": FLAGS,
    "restartPolicy": ("Always", "Never", "OnFailure", "always", "", None),
    "restartPolicyRules": (
        [], None, [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}], [{"action": "restart"}], [{"action": "Restart"}], [{}],
        [{"action": "Restart", "exitCodes": {"operator": "In", "values": []}}], [{"action": "RestartAllContainers", "exitCodes": {"operator": "NotIn", "values": [0]}}],
    ),
    "resizePolicy": ([], None, [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}], [{"resourceName": "cpu", "restartPolicy": "NotRequired"}], [{"resourceName": "cpu"}], [{"resourceName": "gpu", "restartPolicy": "NotRequired"}]),
}  # fmt: skip
_HOSTS: Mapping[str, Values] = {
    "hostAliases": (
        [], None, [{"ip": "10.0.0.1", "hostnames": ["a"]}], [{"ip": "10.0.0.1"}], [{"ip": "a", "hostnames": ["a"]}], [{"hostnames": ["a"]}], [{"ip": "10.0.0.1", "hostnames": ["A"]}],
        [{"ip": "", "hostnames": ["a"]}], [{"ip": "10.0.0.1", "hostnames": [""]}], [{"ip": "::1", "hostnames": ["a.b"]}], [{"ip": "010.0.0.1", "hostnames": ["a"]}], [{"ip": "10.0.0.1", "hostnames": ["a"]}] * 2,
    ),
    "dnsPolicy": ("ClusterFirst", "None", "Default"),
    "dnsConfig": (
        {}, None, {"nameservers": []}, {"nameservers": ["10.0.0.1"]}, {"nameservers": ["10.0.0.1"] * 3}, {"nameservers": ["10.0.0.1"] * 4}, {"nameservers": ["a"]}, {"nameservers": [""]}, {"nameservers": ["::1", "fe80::1%a"]},
        {"searches": ["a"]}, {"searches": ["a."]}, {"searches": ["A"]}, {"searches": ["a_b"]}, {"searches": [""]}, {"searches": ["."]}, {"searches": ["a"] * 32}, {"searches": ["a"] * 33}, {"searches": ["x" * 63 + "." + "y" * 63] * 17},
        {"options": [{"name": "ndots", "value": "2"}]}, {"options": [{"name": ""}]}, {"options": [{}]}, {"options": [{"value": "1"}]}, {"options": [{"name": "a"}, {"name": "a"}]},
    ),
    "hostname": ("a", "A", "a.b", "x" * 64, ""),
    "hostNetwork": FLAGS,
    "hostUsers": (True, False, None),
    "hostnameOverride": ("a", "a.b", "A", "x" * 64, "x" * 65, "", None, "a_b"),
    "setHostnameAsFQDN": FLAGS,
    "shareProcessNamespace": FLAGS,
    "hostPID": FLAGS,
    "resourceClaims": (
        [], None, [{"name": "a", "resourceClaimName": "b"}], [{"name": "a"}], [{"name": "a", "resourceClaimName": "b", "resourceClaimTemplateName": "c"}], [{"name": "A", "resourceClaimName": "b"}],
        [{"name": "a", "resourceClaimName": "b"}] * 2, [{"name": "a", "resourceClaimTemplateName": "C"}], [{"resourceClaimName": "b"}], [{"name": "a", "resourceClaimName": ""}], [{}],
    ),
}  # fmt: skip


def _below(path: str, values: Mapping[str, Values]) -> Mapping[str, Values]:
    return {f"{path} {name}": each for name, each in values.items()}


_SPEC: Object = {
    "restartPolicy": "Never",
    "initContainers": [{"name": "init", "image": "image"}],
    "containers": [
        {"name": "main", "image": "image", "ports": [{"name": "http", "containerPort": 80}], "volumeMounts": [{"name": "data", "mountPath": "/data"}]},
        {"name": "second", "image": "image"},
    ],
    "volumes": [
        {"name": "data", "emptyDir": {}}, {"name": "other", "emptyDir": {}}, {"name": "block", "persistentVolumeClaim": {"claimName": "a"}},
    ],
}  # fmt: skip
_META = {"name": "fresh", "namespace": "default"}
_POD: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": _META, "spec": _SPEC}
_TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": {**_SPEC, "restartPolicy": "Always"}}
_DEPLOYMENT: Object = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": _META,
    "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": _TEMPLATE},
}  # fmt: skip
_VCJOB: Object = {
    "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": _META,
    "spec": {"schedulerName": "volcano", "queue": "default", "minAvailable": 1, "tasks": [{"name": "worker", "replicas": 1, "template": {"spec": _SPEC}}]},
}  # fmt: skip


def _run(path: str) -> Mapping[str, Values]:
    return {**_below(f"{path} containers 0", _RUNS), **_below(f"{path} initContainers 0", _RUNS)}


def _stored(path: str) -> Mapping[str, Values]:
    one = {"volumeMounts": mounts, "volumeDevices": devices}
    return {
        f"{path} volumes": volumes,
        **_below(f"{path} containers 0", one),
        **_below(f"{path} initContainers 0", one),
    }


def _rights(path: str) -> Mapping[str, Values]:
    return {
        **_below(f"{path} securityContext", _OF_POD),
        **_below(f"{path} containers 0 securityContext", _OF_CONTAINER),
        **_below(f"{path} initContainers 0 securityContext", _OF_CONTAINER),
        **_below(path, _HOSTS),
    }


_IN_TEMPLATE, _IN_TASK = "spec template spec", "spec tasks 0 template spec"
FAMILIES: Sequence[Family] = (
    Family("pod-containers", _POD, _run("spec")),
    Family("pod-volumes", _POD, _stored("spec")),
    Family("pod-security", _POD, _rights("spec")),
    Family("deployment-containers", _DEPLOYMENT, _run(_IN_TEMPLATE)),
    Family("deployment-volumes", _DEPLOYMENT, _stored(_IN_TEMPLATE)),
    Family("deployment-security", _DEPLOYMENT, _rights(_IN_TEMPLATE)),
    Family("vcjob-containers", _VCJOB, _run(_IN_TASK)),
    Family("vcjob-volumes", _VCJOB, _stored(_IN_TASK)),
    Family("vcjob-security", _VCJOB, _rights(_IN_TASK)),
)
