"""Volumes of drivers that API servers refuse; `tests/servers/container_families.py` asks a server for more."""

import pytest

from tests.lint.core.test_field_pairs import pod

TARGET = {"targetPortal": "10.0.0.1:3260", "lun": 0, "iqn": "iqn.2015-02.com.example:storage"}


def volume(**source):
    return pod({"volumes": [{"name": "data", **source}]})


@pytest.mark.parametrize(
    ("source", "path", "words"),
    [
        ({"csi": {"driver": "x" * 64}}, ("csi", "driver"), "at most 63 characters"),
        ({"csi": {"driver": ""}}, ("csi", "driver"), "write the name of a driver"),
        ({"csi": {"driver": "a", "nodePublishSecretRef": {}}}, ("csi", "nodePublishSecretRef"), "with no name"),
        ({"csi": {"driver": "a", "nodePublishSecretRef": {"name": "A"}}}, ("csi", "nodePublishSecretRef"), 'name "A"'),
        ({"iscsi": TARGET | {"iqn": "a"}}, ("iscsi", "iqn"), "write a name such as iqn."),
        ({"iscsi": TARGET | {"iqn": "iqn.2015.a:b"}}, ("iscsi", "iqn"), "write a name such as iqn."),
        ({"iscsi": TARGET | {"initiatorName": "naa.1"}}, ("iscsi", "initiatorName"), "write a name such as iqn."),
        ({"iscsi": TARGET | {"chapAuthSession": True}}, ("iscsi", "chapAuthSession"), "write secretRef"),
    ],
)  # fmt: skip
def test_volumes_of_drivers_that_are_refused(source, path, words):
    ((at, message),) = volume(**source)
    assert at == ("volumes", 0, *path)
    assert message.startswith("Pod p has volume data with")
    assert words in message


@pytest.mark.parametrize(
    "source",
    [
        {"csi": {"driver": "Disk.example.com", "nodePublishSecretRef": {"name": "a"}}},
        {"iscsi": TARGET},
        {"iscsi": TARGET | {"iqn": "eui.0123456789abcdef", "initiatorName": f"naa.{'0' * 32}"}},
        {"iscsi": TARGET | {"chapAuthDiscovery": True, "secretRef": {"name": "a"}}},
    ],
)
def test_volumes_of_drivers_that_are_not(source):
    assert volume(**source) == []
