"""Security contexts and names that API servers refuse; `tests/servers/container_families.py` asks a server for more."""

import pytest

from tests.lint.core.test_field_pairs import pod


def contexts(**context):
    """The faults in a pod's security context, and in a container's."""
    return pod({"securityContext": context}), pod({"containers": [{"name": "main", "securityContext": context}]})  # fmt: skip


@pytest.mark.parametrize(
    ("field", "profile", "words"),
    [
        ("seccompProfile", {"type": "Localhost"}, "write localhostProfile"),
        ("seccompProfile", {"type": "RuntimeDefault", "localhostProfile": "a"}, "remove localhostProfile"),
        ("appArmorProfile", {"type": "Localhost", "localhostProfile": " a"}, "without spaces around it"),
    ],
)  # fmt: skip
def test_profiles_that_are_refused(field, profile, words):
    for ((_, message),) in contexts(**{field: profile}):
        assert words in message
    assert contexts(**{field: {"type": "Localhost", "localhostProfile": "a"}}) == ([], [])


@pytest.mark.parametrize(
    ("spec", "path", "words"),
    [
        ({"containers": [{"securityContext": {"procMount": "Unmasked"}}]}, ("containers", 0, "securityContext", "procMount"), "write hostUsers: false"),
        ({"containers": [{"securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"add": ["CAP_SYS_ADMIN"]}}}]}, ("containers", 0, "securityContext", "allowPrivilegeEscalation"), "adds CAP_SYS_ADMIN"),
        ({"securityContext": {"sysctls": [{"name": "Net.a"}]}}, ("securityContext", "sysctls", 0, "name"), 'named "Net.a"'),
        ({"securityContext": {"sysctls": [{"name": "net.a"}] * 2}}, ("securityContext", "sysctls", 1, "name"), "twice"),
        ({"shareProcessNamespace": True, "hostPID": True}, ("shareProcessNamespace",), "with hostPID: true"),
        ({"securityContext": {"seLinuxChangePolicy": "MountOption"}}, ("securityContext", "seLinuxChangePolicy"), "refused unless the feature gate SELinuxMount is enabled, which it is not by default; write Recursive"),
        ({"securityContext": {"seLinuxChangePolicy": "Never"}}, ("securityContext", "seLinuxChangePolicy"), "which is refused; write Recursive"),
        ({"hostnameOverride": "A"}, ("hostnameOverride",), "at most 64 lower-case letters"),
        ({"hostnameOverride": "a", "hostNetwork": True}, ("hostnameOverride",), "with hostNetwork: true"),
        ({"resourceClaims": [{"name": "a", "resourceClaimName": "b"}] * 2}, ("resourceClaims", 1, "name"), 'named "a"'),
        ({"resourceClaims": [{"name": "a"}]}, ("resourceClaims", 0), "write resourceClaimName or resourceClaimTemplateName"),
        ({"securityContext": {"windowsOptions": {"runAsUserName": "a\\b\\c"}}}, ("securityContext", "windowsOptions", "runAsUserName"), "a domain, a backslash and a user"),
        ({"securityContext": {"windowsOptions": {"hostProcess": True}}, "containers": [{"name": "a"}]}, (), "write hostNetwork: true"),
        ({"hostNetwork": True, "containers": [{"name": "a", "securityContext": {"windowsOptions": {"hostProcess": True}}}, {"name": "b"}]}, (), "for all of them"),
        ({"containers": [{"name": "a", "image": " a"}]}, ("containers", 0, "image"), "remove the spaces"),
        ({"dnsConfig": {"nameservers": ["10.0.0.1"] * 4}}, ("dnsConfig", "nameservers"), "write at most 3"),
        ({"dnsConfig": {"options": [{"name": ""}]}}, ("dnsConfig", "options", 0, "name"), "without a name"),
        ({"dnsConfig": {"searches": ["a"] * 33}}, ("dnsConfig", "searches"), "write at most 32"),
        ({"dnsConfig": {"searches": ["a", "A"]}}, ("dnsConfig", "searches", 1), "a lower-case domain"),
    ],
)  # fmt: skip
def test_pods_that_are_refused(spec, path, words):
    ((at, message),) = pod(spec)
    assert at == path
    assert words in message


def test_pods_that_are_not():
    for name in ("ContainerUser", "NT AUTHORITY\\LOCAL SERVICE", "example.com\\a"):
        assert contexts(windowsOptions={"runAsUserName": name}) == ([], [])
    assert pod({"dnsConfig": {"searches": [".", "_a.b_c.", "a"]}}) == []
    assert pod({"hostUsers": False, "containers": [{"securityContext": {"procMount": "Unmasked"}}]}) == []  # fmt: skip
    assert pod({"securityContext": {"sysctls": [{"name": "net/ipv4/a"}, {"name": "kernel.sem"}]}}) == []  # fmt: skip
