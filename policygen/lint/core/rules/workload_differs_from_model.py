"""A workload does not have the fields that the policy decides for its model."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from policygen.core.names import SET
from policygen.core.quoting import listed, quoted
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

if TYPE_CHECKING:  # a lint without a spec does not load the plan
    from policygen.patch.model_finder import ModelFinder
    from policygen.patch.object_patch import ObjectPatch


def check(facts: Facts) -> Hits:
    """Reports what `policygen patch` would add to a workload, and what it would refuse.

    Source: `patch.object_patch`, with the fields that `plan.pods` decides for the pods of a model.
    """
    if facts.spec is None or facts.plan is None:
        return
    from policygen.patch.model_finder import ModelFinder
    from policygen.plan.decisions import Decisions

    finder = ModelFinder(
        Decisions(facts.spec, facts.plan.pools, facts.plan.trees, facts.plan.workloads)
    )
    for workload in facts.cluster.workloads:
        if _is_of(facts, workload):
            yield from _hits(workload.object, finder)


def _is_of(facts: Facts, workload: Workload) -> bool:
    """Whether the spec can decide about a workload.

    On a cluster, another spec can have models of the same names, and the scheduler writes the node of a pod.
    """
    object_ = workload.object
    if object_.at in facts.cluster.context or facts.spec is None:
        return False
    if object_.labels.get(SET, facts.spec.platform.name) != facts.spec.platform.name:
        return False
    if facts.cluster.seen is None:
        return True
    return object_.kind != "Pod" and any(
        space.name == object_.namespace for team in facts.spec.teams for space in team.namespaces
    )


def _hits(object_: Object, finder: "ModelFinder") -> Hits:
    from policygen.patch import leftovers
    from policygen.patch.draft import Contradiction
    from policygen.patch.object_patch import object_patch

    run = finder.named(object_)
    if isinstance(run, Contradiction):
        yield Hit(RULE, f"{object_}: {run.message}", object_.at.to(*run.path))
    elif run is not None and not any(leftovers.faults(object_)):
        found = object_patch(object_, run)
        missing = list(_missing(found))
        if missing or found.faults:
            yield _hit(found, missing, run.model)


def _missing(found: "ObjectPatch") -> Iterator[str]:
    """The fields that patch would add; the label only names the model."""
    from policygen.patch.additions import entries
    from policygen.plan.model_names import MODEL

    texts = (
        f"{key}: {value if isinstance(value, str | int) else json.dumps(value)}"
        for key, value in entries(found.added)
        if key != MODEL
    )
    yield from dict.fromkeys(texts)


def _hit(found: "ObjectPatch", missing: list[str], model: str) -> Hit:
    object_, wrong = found.object, found.faults
    parts = [it.brief or it.reason for it in wrong]
    remedies = [wrong[0].remedy] if len(wrong) == 1 else ["correct these values"] if wrong else []
    if missing:
        parts.append(f"it does not have {listed(missing, 'and')}")
        remedies.append("run `policygen patch FILE --write`")
    return Hit(
        RULE,
        f"{object_} differs from the policy of its model {quoted(model)}: {'; '.join(parts)}; "
        f"{', then '.join(remedies)}",
        object_.at.to(*(wrong[0].path if wrong else ("metadata", "name"))),
    )


RULE = ObjectRule(
    "workload-differs-from-model",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Run `policygen patch FILE --write`, and correct the values that it names.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.SPEC}),
)
