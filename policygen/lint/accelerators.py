"""Which resources are GPUs and their like, and who asks for them."""

import re
from fractions import Fraction

from policygen.cluster.workload import Template

_NAME = re.compile(
    r".+/(v?gpu|vgpu-number|gpu[._-].*|mig-.*|tpu|gaudi|neuron|neuroncore|neurondevice|i915|xe|"
    r"npu|npu-core|ascend.*|mlu.*|dcu.*)",
    re.IGNORECASE,
)


def is_one(resource: str) -> bool:
    """Whether a resource is an accelerator by its name."""
    return _NAME.fullmatch(resource) is not None and not resource.startswith(
        ("requests.", "limits.", "count/")
    )


def asked(template: Template) -> dict[str, Fraction]:
    """The accelerators that one pod asks for."""
    return {
        name: amount
        for name, amount in template.spec.requests().items()
        if amount > 0 and is_one(name)
    }
