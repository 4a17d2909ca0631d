"""Volumes of CSI drivers and iSCSI targets that API servers refuse.

Source: pkg/apis/core/validation/validation.go of Kubernetes 1.36.3, validateCSIVolumeSource and
validateISCSIVolumeSource.
"""

import re
from collections.abc import Iterator

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import FaultAt
from policygen.core.quoting import quoted
from policygen.lint.core.pod_templates import Part

_LONGEST_DRIVER = 63
_TARGETS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.[0-9A-Za-z.-]+:[^,;*&$|\s]+", re.ASCII),
    "eui": re.compile(r"eui.[0-9A-Za-z]{16}"),
    "naa": re.compile(r"naa.[0-9A-Za-z]{32}"),
}
"""The forms of names by their first letters."""
_AUTHENTICATION = ("chapAuthDiscovery", "chapAuthSession")


def of_csi(csi: Part, which: str) -> Iterator[FaultAt]:
    """The faults of a `csi`; each message begins with `which`."""
    driver = csi.data.get("driver")
    if isinstance(driver, str) and not (
        is_subdomain(driver.lower()) and len(driver.encode()) <= _LONGEST_DRIVER
    ):
        yield (
            csi.at / "driver",
            f"{which} with csi.driver {quoted(driver)}, which is refused; write the name of a driver with at most {_LONGEST_DRIVER} characters",
        )
    reference = csi.data.get("nodePublishSecretRef")
    if not isinstance(reference, dict):
        return
    name = reference.get("name")
    # workload_code reports an empty name.
    if name is None or (isinstance(name, str) and name and not is_subdomain(name)):
        fault = "no name" if name is None else f"name {quoted(name)}"
        yield (
            csi.at / "nodePublishSecretRef",
            f"{which} with csi.nodePublishSecretRef with {fault}, which is refused; write the name of a Secret",
        )


def of_iscsi(iscsi: Part, which: str) -> Iterator[FaultAt]:
    """The faults of an `iscsi`; each message begins with `which`."""
    for field in ("iqn", "initiatorName"):
        name = iscsi.data.get(field)
        form = _TARGETS.get(name[:3]) if isinstance(name, str) else None
        if isinstance(name, str) and not (form and form.fullmatch(name)):
            yield (
                iscsi.at / field,
                f"{which} with iscsi.{field} {quoted(name)}, which is refused; write a name such as iqn.2015-02.com.example:storage",
            )
    used = [it for it in _AUTHENTICATION if iscsi.data.get(it) is True]
    if used and iscsi.data.get("secretRef") is None:
        yield (
            iscsi.at / used[0],
            f"{which} with iscsi.{used[0]} without secretRef, which is refused; write secretRef, or remove {used[0]}",
        )
