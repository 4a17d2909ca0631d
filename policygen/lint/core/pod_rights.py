"""Refused combinations in the security contexts and the names of a pod.

Source: pkg/apis/core/validation/validation.go of Kubernetes 1.36.3, ValidateSecurityContext,
validatePodSpecSecurityContext, validatePodDNSConfig and validatePodHostName.
"""

import re
from collections.abc import Iterator

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import FaultAt
from policygen.core.quoting import listed, quoted
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.untyped import entries
from policygen.lint.core.pod_templates import Part, PodPart, named

FIELDS = (
    "securityContext",
    "shareProcessNamespace",
    "dnsConfig",
    "hostnameOverride",
    "resourceClaims",
)
_CLAIMED = ("resourceClaimName", "resourceClaimTemplateName")
_LONGEST_HOSTNAME = 64
_PROFILES = ("seccompProfile", "appArmorProfile")
_WITH_PROFILE = frozenset(_PROFILES)
_LONGEST_PROFILE = 4095
_SYSCTL = re.compile(r"[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9]([-_a-z0-9]*[a-z0-9])?)*")
_LONGEST = 253
_SEARCH = re.compile(r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*")
_MOST_SERVERS, _MOST_SEARCHES, _MOST_CHARACTERS = 3, 32, 2048


def of_pod(spec: PodPart) -> Iterator[FaultAt]:
    """Refused combinations in the rights and names of a pod."""
    if "securityContext" in spec.data:
        yield from _of_context(spec, spec.under("securityContext"))
    for container in spec.containers:
        if container.data.get("securityContext"):
            yield from _container(spec, container, container.under("securityContext"))
    if spec.data.get("shareProcessNamespace") is True and spec.data.get("hostPID") is True:
        yield (
            spec.at / "shareProcessNamespace",
            f"{spec.owner} has shareProcessNamespace with hostPID: true, which is refused; remove one of them",
        )
    if "dnsConfig" in spec.data:
        yield from _names(spec, spec.under("dnsConfig"))
    if isinstance(spec.data.get("hostnameOverride"), str):
        yield from _hostname(spec, spec.data["hostnameOverride"])
    if "resourceClaims" in spec.data:
        yield from _claims(spec)


def _of_context(spec: PodPart, context: Part) -> Iterator[FaultAt]:
    if not _WITH_PROFILE.isdisjoint(context.data):
        yield from _profiles(context, str(spec.owner))
    if "sysctls" in context.data:
        yield from _sysctls(spec, context)
    if "seLinuxChangePolicy" in context.data:
        yield from _se_linux(spec, context)


def _hostname(spec: PodPart, name: str) -> Iterator[FaultAt]:
    at = spec.at / "hostnameOverride"
    if not is_subdomain(name) or len(name) > _LONGEST_HOSTNAME:
        yield (
            at,
            f'{spec.owner} has hostnameOverride {quoted(name)}, which is refused; write at most {_LONGEST_HOSTNAME} lower-case letters, digits, "-" and "."',
        )
    for other in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.data.get(other) is True:
            yield (
                at,
                f"{spec.owner} has hostnameOverride with {other}: true, which is refused; remove one of them",
            )


def _claims(spec: PodPart) -> Iterator[FaultAt]:
    seen: set[str] = set()
    for claim in spec.items("resourceClaims"):
        name = claim.data.get("name")
        if isinstance(name, str) and name in seen:
            yield (
                claim.at / "name",
                f"{spec.owner} has two resourceClaims named {quoted(name)}, which is refused; rename one of them",
            )
        seen.add(name if isinstance(name, str) else "")
        used = [it for it in _CLAIMED if claim.data.get(it) is not None]
        if len(used) != 1:
            fault = listed(list(_CLAIMED), "and") if used else "no source"
            yield (
                claim.at,
                f"{spec.owner} has a resource claim with {fault}, which is refused; write {listed(list(_CLAIMED))}",
            )


def _container(spec: PodPart, container: Part, context: Part) -> Iterator[FaultAt]:
    if not _WITH_PROFILE.isdisjoint(context.data):
        yield from _profiles(context, named(container))
    if context.data.get("procMount") == "Unmasked" and spec.data.get("hostUsers") is not False:
        yield (
            context.at / "procMount",
            f"{named(container)} has procMount Unmasked without hostUsers: false, which is refused; write hostUsers: false in its pod",
        )
    if context.data.get("allowPrivilegeEscalation") is False and "CAP_SYS_ADMIN" in entries(
        context.data, "capabilities", "add"
    ):
        yield (
            context.at / "allowPrivilegeEscalation",
            f"{named(container)} has allowPrivilegeEscalation: false and adds CAP_SYS_ADMIN, which is refused; remove one of them",
        )


def _profiles(context: Part, which: str) -> Iterator[FaultAt]:
    for field in _PROFILES:
        profile = context.under(field)
        kind, file = profile.data.get("type"), profile.data.get("localhostProfile")
        if file is None:
            if kind == "Localhost":
                yield (
                    profile.at,
                    f"{which} has {field} Localhost without localhostProfile, which is refused; write localhostProfile",
                )
        elif isinstance(file, str) and isinstance(kind, str) and kind and kind != "Localhost":
            yield (
                profile.at / "localhostProfile",
                f"{which} has {field} {kind} with localhostProfile, which is refused; remove localhostProfile",
            )
        elif isinstance(file, str) and field == "appArmorProfile" and not _is_profile(file):
            yield (
                profile.at / "localhostProfile",
                f"{which} has localhostProfile {quoted(file)}, which is refused; write the name of a profile without spaces around it",
            )


def _is_profile(file: str) -> bool:
    return 0 < len(file.encode()) <= _LONGEST_PROFILE and file.strip() == file


def _se_linux(spec: PodPart, context: Part) -> Iterator[FaultAt]:
    policy = context.data.get("seLinuxChangePolicy")
    allowed = (
        ("Recursive", "MountOption") if spec.owner.object.group == VOLCANO_BATCH else ("Recursive",)
    )
    if isinstance(policy, str) and policy not in allowed:
        gate = " unless the feature gate SELinuxMount is enabled, which it is not by default"
        yield (
            context.at / "seLinuxChangePolicy",
            f"{spec.owner} has seLinuxChangePolicy {quoted(policy)}, which is refused{gate if policy == 'MountOption' else ''}; write Recursive",
        )


def _sysctls(spec: PodPart, context: Part) -> Iterator[FaultAt]:
    seen: set[str] = set()
    for sysctl in context.items("sysctls"):
        name = sysctl.data.get("name")
        if not isinstance(name, str):
            continue
        if not _SYSCTL.fullmatch(name) or len(name) > _LONGEST:
            yield (
                sysctl.at / "name",
                f"{spec.owner} has a sysctl named {quoted(name)}, which is refused; write a name such as net.core.somaxconn",
            )
        elif name in seen:
            yield (
                sysctl.at / "name",
                f"{spec.owner} sets the sysctl {name} twice, which is refused; remove one of them",
            )
        seen.add(name)


def _names(spec: PodPart, config: Part) -> Iterator[FaultAt]:
    for option in config.items("options"):
        if option.data.get("name") == "":
            yield (
                option.at / "name",
                f"{spec.owner} has a DNS option without a name, which is refused; write its name",
            )
    servers, searches = (config.data.get(it) for it in ("nameservers", "searches"))
    if isinstance(servers, list) and len(servers) > _MOST_SERVERS:
        yield (
            config.at / "nameservers",
            f"{spec.owner} has {len(servers)} nameservers, which is refused; write at most {_MOST_SERVERS}",
        )
    if not isinstance(searches, list) or not all(isinstance(it, str) for it in searches):
        return
    if len(searches) > _MOST_SEARCHES or len(" ".join(searches)) > _MOST_CHARACTERS:
        yield (
            config.at / "searches",
            f"{spec.owner} has {len(searches)} searches, which is refused; write at most {_MOST_SEARCHES} with {_MOST_CHARACTERS} characters in total",
        )
    for index, search in enumerate(searches):
        name = search.removesuffix(".")
        if search != "." and (len(name) > _LONGEST or not _SEARCH.fullmatch(name)):
            yield (
                config.at.to("searches", index),
                f"{spec.owner} searches the domain {quoted(search)}, which is refused; write a lower-case domain",
            )
