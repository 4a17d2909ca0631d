"""Which namespaces a selector matches, as far as the input shows."""

from policygen.core.names import NAMESPACE_NAME
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import LabelSelector


def selects(cluster: Cluster, selector: LabelSelector, name: str) -> bool | None:
    """Whether a selector matches a namespace; None if that depends on labels that are not known."""
    if not name:
        return None
    found = cluster.namespaces.get(name)
    if found is not None:
        return selector.selects({**found.labels, NAMESPACE_NAME: name})
    return selects_by_name(selector, name)


def selects_by_name(selector: LabelSelector, name: str) -> bool | None:
    """Whether a selector matches a namespace of which only the name is known; None: it depends."""
    by_name = LabelSelector(
        match_labels={
            key: it for key, it in selector.match_labels.items() if key == NAMESPACE_NAME
        },
        match_expressions=tuple(
            it for it in selector.match_expressions if it.key == NAMESPACE_NAME
        ),
    )
    if not by_name.selects({NAMESPACE_NAME: name}):
        return False
    return True if by_name == selector else None
