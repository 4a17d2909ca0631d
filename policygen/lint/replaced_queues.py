"""Objects that were written by hand beside rendered ones: during a migration, sums count both."""

from collections.abc import Iterable, Iterator

from policygen.core.names import SET
from policygen.core.quoting import some
from policygen.kubernetes.object import Object
from policygen.lint.rule import Facts


def advice(owners: Iterable[Object]) -> str:
    """The beginning of a remedy for a sum over these queues, if only some of them were rendered; else ""."""
    named = {str(it): it for it in owners}
    by_hand = [name for name, it in named.items() if not it.labels.get(SET)]
    if not by_hand or len(by_hand) == len(named):
        return ""
    these = "it" if len(by_hand) == 1 else "them"
    return f"if the rendered queues replace {some(by_hand, 'other')}, remove {these}, otherwise "


def rendered_too(facts: Facts) -> Iterator[tuple[Object, Object]]:
    """The objects of manifests that have the name of an object that the spec renders, with that object.

    Without manifests that policygen rendered.
    """
    state = facts.state
    if state is None or state.seen is not None:
        return  # the rules about drift compare a cluster
    for it in facts.cluster.objects:
        held = state.objects.get(it.identity)
        if held is not None and it.at not in facts.cluster.context and not it.labels.get(SET):
            yield it, held


def are_reported(facts: Facts, owners: Iterable[Object]) -> bool:
    """Whether rendered-object-replaced reports one of these objects."""
    if "rendered-object-replaced" not in facts.run:
        return False
    replaced = {it.at for it, _ in rendered_too(facts)}
    return any(it.at in replaced for it in owners)
