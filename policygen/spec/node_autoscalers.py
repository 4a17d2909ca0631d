"""Parses the autoscaler of a pool's nodes, and checks what the schema cannot check."""

import re
import warnings
from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.quoting import quoted
from policygen.spec.fields import View
from policygen.spec.rules import INVALID_VALUE
from policygen.spec.types import NodeAutoscaler, NodeClass

_DIFFERENT = re.compile(
    r"\\\W|\\[pP](?:\{\^?\w+\}|\w)|\[:\^?\w+:\]|\\z|\(\?[imsU]*(?:-[imsU]+)?\)|\\Q.*?(?:\\E|\Z)|(\(\?(?:<(?=\w)|[-imsU]+:))"
)
"""What Go and Python write differently: escaped punctuation, classes, the end of the text, flags anywhere, quoted text; beginnings of groups."""
_NOT_IN_GO = re.compile(r"\(\?(?!:)|\\[1-9uZ]|[*+?}]\+")
"""Lookaround, conditions, references to groups and possessive quantifiers, which only Python has."""
_REPETITION = re.compile(r"\{([0-9]+)(?:,([0-9]*))?\}")
_MOST_REPEATED = 1000
"""Source: maxRepeat in regexp/syntax of Go 1.26."""


def of_pool(view: View) -> NodeAutoscaler | None:
    """The autoscaler of a pool; None if its nodes do not change. Adds hits about impossible values."""
    if not view:
        return None
    view.hits += _faults(view)
    node_class = view.view("nodeClass")
    return NodeAutoscaler(
        node_groups=view.texts("nodeGroups"),
        node_class=NodeClass(**node_class.data) if node_class else None,
        provisioning_class=view.text("provisioningClass"),
    )


def _faults(view: View) -> Iterator[Hit]:
    for index, text in enumerate(view.texts("nodeGroups")):
        if not _is_expression(text):
            message = (
                f"{quoted(text)} is not a valid regular expression of Go; write the name of a node "
                "group, or an expression such as h100-spot-.*"
            )
            yield Hit(INVALID_VALUE, message, view.at / "nodeGroups" / index)
    for field, reason in (
        ("nodeGroups", "each node of a pool has one autoscaler"),
        ("provisioningClass", "Karpenter does not read ProvisioningRequests"),
    ):
        if field in view.data and view.view("nodeClass"):
            message = (
                f"nodeClass is for Karpenter and {field} is for Cluster Autoscaler, but {reason}; "
                f"remove nodeClass or {field}"
            )
            yield Hit(INVALID_VALUE, message, (view.at / field).on_key())


def _is_expression(text: str) -> bool:
    """Whether Go certainly or probably compiles a regular expression."""
    common = _DIFFERENT.sub(lambda it: "(?:" if it[1] else "a", text).replace("(?P<", "(?:<")
    if _NOT_IN_GO.search(common):
        return False
    numbers = [it for found in _REPETITION.findall(common) for it in found if it]
    if any(len(it) > 4 or int(it) > _MOST_REPEATED for it in numbers):
        return False
    with warnings.catch_warnings(action="ignore", category=FutureWarning):  # "[[" in later Pythons
        try:
            re.compile(common)
        except (re.error, RecursionError):
            return False
    return True
