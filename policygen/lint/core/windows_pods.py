"""Fields that pods of one operating system cannot have, and invalid options for Windows.

Source: pkg/apis/core/validation/validation.go of Kubernetes 1.36.3, validateWindows and validateLinux.
"""

import re
from collections.abc import Iterator

from policygen.core.finding import FaultAt
from policygen.core.quoting import quoted
from policygen.kubernetes.untyped import mapping
from policygen.lint.core.pod_templates import Part, PodPart, named

FIELDS = ("securityContext", "os")
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
_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DOMAIN = re.compile(rf"""[^\\/:*?"<>|.][^\\/:*?"<>|]{{0,14}}|{_LABEL}(?:\.{_LABEL})*""")
_NOT_IN_USERS, _CONTROL = re.compile(r"""["/\\:;|=,+*?<>@\[\]]"""), re.compile(r"[\x00-\x1f\x7f]")
_LONGEST_USER, _LONGEST_DOMAIN = 104, 256


def of_pod(spec: PodPart) -> Iterator[FaultAt]:
    """The fields of a pod that its `os` excludes, and invalid options for Windows."""
    if any(map(_has_options, (spec, *spec.containers))):
        yield from _options(spec)
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


def _has_options(part: Part) -> bool:
    context = part.data.get("securityContext")
    return isinstance(context, dict) and bool(context.get(_ONLY_WINDOWS[0]))


def _options(spec: PodPart) -> Iterator[FaultAt]:
    """Source: validateWindowsSecurityContextOptions, validateWindowsHostProcessPod."""
    above, *of_containers = (
        (str(which), part.under("securityContext").under(_ONLY_WINDOWS[0]))
        for which, part in ((spec.owner, spec), *((named(it), it) for it in spec.containers))
    )
    for which, options in (above, *of_containers):
        name = options.data.get("runAsUserName")
        if isinstance(name, str) and not _is_user(name):
            yield (
                options.at / "runAsUserName",
                f"{which} has runAsUserName {quoted(name)}, which is refused; write a user, or a domain, a backslash and a user",
            )
    inherited = above[1].data.get("hostProcess")
    on_host = []
    for which, options in of_containers:
        own = options.data.get("hostProcess")
        on_host.append(inherited if own is None else own)
        if own is not None and inherited is not None and own != inherited:
            yield (
                options.at / "hostProcess",
                f"{which} has a hostProcess that differs from that of its pod, which is refused; remove hostProcess from the container",
            )
    if True not in on_host:
        return
    if not all(it is True for it in on_host):
        yield (
            spec.at,
            f"{spec.owner} has containers with and without hostProcess, which is refused; write hostProcess: true for all of them",
        )
    if spec.data.get("hostNetwork") is not True:
        yield (
            spec.at,
            f"{spec.owner} has hostProcess without hostNetwork: true, which is refused; write hostNetwork: true",
        )


def _is_user(name: str) -> bool:
    domain, slash, user = name.rpartition("\\")
    return not (
        (slash and not _DOMAIN.fullmatch(domain))
        or not 0 < len(user.encode()) <= _LONGEST_USER
        or len(domain.encode()) >= _LONGEST_DOMAIN
        or not user.strip(". ")
        or _NOT_IN_USERS.search(user)
        or _CONTROL.search(name)
    )


def _is_set(value: object) -> bool:
    return value is not None and value != []


def _message(who: object, name: str, system: str) -> str:
    return f"{who} has {name} in a pod for {system}, which is refused; remove {name}"
