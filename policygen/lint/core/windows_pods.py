"""Fields that pods of one operating system cannot have.

Source: pkg/apis/core/validation/validation.go of Kubernetes 1.36.3, validateWindows and validateLinux.
"""

from collections.abc import Iterator

from policygen.core.finding import FaultAt
from policygen.kubernetes.untyped import mapping
from policygen.lint.core.pod_templates import PodPart, named

_SWITCHES = ("hostPID", "hostIPC")
"""Fields of a pod that may be false."""
_OF_POD = ("hostUsers", "shareProcessNamespace")
_SHARED = ("appArmorProfile", "seLinuxOptions", "seccompProfile", "runAsUser", "runAsGroup")
_CONTEXT = (
    *_SHARED,
    "fsGroup", "fsGroupChangePolicy", "supplementalGroups", "supplementalGroupsPolicy",
    "seLinuxChangePolicy", "sysctls",
)  # fmt: skip
_OF_CONTAINER = (
    *_SHARED,
    "capabilities", "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount",
)  # fmt: skip
_ONLY_WINDOWS = ("windowsOptions",)


def of_pod(spec: PodPart) -> Iterator[FaultAt]:
    """The fields of a pod that its `os` excludes."""
    system = mapping(spec.data, "os").get("name")
    if system not in ("windows", "linux"):
        return
    context = spec.under("securityContext")
    windows = system == "windows"
    for name in (*_SWITCHES, *_OF_POD) if windows else ():
        value = spec.data.get(name)
        if value is True or (value is not None and name in _OF_POD):
            yield spec.at / name, _message(spec.owner, name, system)
    for name in _CONTEXT if windows else _ONLY_WINDOWS:
        if _is_set(context.data.get(name)):
            yield context.at / name, _message(spec.owner, name, system)
    for container in spec.containers:
        inner = container.under("securityContext")
        for name in _OF_CONTAINER if windows else _ONLY_WINDOWS:
            if inner.data.get(name) is not None:
                yield inner.at / name, _message(named(container), name, system)


def _is_set(value: object) -> bool:
    return value is not None and value != []


def _message(who: object, name: str, system: str) -> str:
    return f"{who} has {name} in a pod for {system}, which is refused; remove {name}"
