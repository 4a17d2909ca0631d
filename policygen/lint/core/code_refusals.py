"""Refusals by a server's code or webhook for the same reasons as those by a schema."""

import re
import warnings
from collections.abc import Iterator

from policygen.core.finding import FaultAt, at_path
from policygen.core.quoting import quoted
from policygen.kubernetes.cluster import VOLCANO, VOLCANO_BATCH
from policygen.kubernetes.untyped import entries, numbered
from policygen.lint.core import pod_templates
from policygen.lint.core.server_refusals import refused, unsure_pods, unsure_templates
from policygen.lint.rule import Facts

_HYPER_NODES = "topology.volcano.sh", "HyperNode"
_WITH_SPEC = ((VOLCANO, "Queue"), (VOLCANO_BATCH, "CronJob"), (VOLCANO_BATCH, "Job"))
"""Kinds whose schema accepts a missing spec, but whose webhook does not."""
_PATTERN = ("selector", "regexMatch", "pattern")
_UNBALANCED = ("unterminated character set", "unterminated subpattern", "unbalanced parenthesis")
"""Python's errors for patterns that Go refuses, too."""


def annotations(facts: Facts) -> Iterator[FaultAt]:
    """Invalid annotation keys of pod templates.

    Source: pkg/apis/core/validation/validation.go, ValidatePodTemplateSpec.
    """
    for template in unsure_templates(facts.cluster):
        yield from pod_templates.annotation_faults(template.under("metadata").under("annotations"))


def labels(facts: Facts) -> Iterator[FaultAt]:
    """Invalid labels of pod templates and node selectors.

    Source: pkg/apis/core/validation/validation.go, ValidatePodTemplateSpec, ValidatePodSpec.
    """
    for template in unsure_templates(facts.cluster):
        yield from pod_templates.label_faults(template.under("metadata").under("labels"))
    for spec in unsure_pods(facts.cluster):
        if "nodeSelector" in spec.data:
            yield from pod_templates.label_faults(spec.under("nodeSelector"))


def missing_fields(facts: Facts) -> Iterator[FaultAt]:
    """Missing fields that Volcano's webhooks require.

    Source: pkg/webhooks/admission/queues, cronjobs and hypernodes, which write into spec;
    jobs/validate/admit_job.go, validateTaskTemplate.
    """
    for group, kind in _WITH_SPEC:
        for obj in facts.cluster.of(group, kind):
            if obj.data.get("spec") is None:
                yield (
                    obj.at,
                    f"{obj} has no spec, so Volcano's webhook refuses the object; write spec",
                )
    reported = facts.cluster.derive(refused).objects
    for obj in facts.cluster.of(VOLCANO_BATCH, "Job"):
        if obj.at in reported:
            continue  # the template may have another type, or a misspelled name
        if isinstance(spec := obj.data.get("spec"), dict) and spec.get("tasks") is None:
            yield (
                obj.at / "spec",
                f"{obj} has no spec.tasks, so Volcano's webhook refuses the object; write spec.tasks",
            )
        for i, task in numbered(obj.data, "spec", "tasks"):
            if task.get("template") is None or at_path(task, ("template", "spec")) is None:
                yield (
                    obj.at.to("spec", "tasks", i),
                    f"{obj} has a task without containers, so Volcano's webhook refuses the object; write template.spec.containers",
                )
    yield from _without_members(facts)


def _without_members(facts: Facts) -> Iterator[FaultAt]:
    for obj in facts.cluster.of(*_HYPER_NODES):
        spec = obj.data.get("spec")
        if isinstance(spec, dict | None) and (spec or {}).get("members") in (None, []):
            yield (
                obj.at / "spec" if "spec" in obj.data else obj.at,
                f"{obj} has no spec.members, so Volcano's webhook refuses the object; write spec.members",
            )


def patterns(facts: Facts) -> Iterator[FaultAt]:
    """Regular expressions of HyperNodes with an unbalanced bracket.

    Source: pkg/webhooks/admission/hypernodes/validate of Volcano.
    """
    for obj in facts.cluster.of(*_HYPER_NODES):
        for i, member in enumerate(entries(obj.data, "spec", "members")):
            pattern = at_path(member, _PATTERN)
            if isinstance(pattern, str) and _is_unbalanced(pattern):
                yield (
                    obj.at.to("spec", "members", i, *_PATTERN),
                    f"{obj}: pattern {quoted(pattern)} has an unbalanced bracket, so Volcano's webhook refuses the object; write a valid regular expression",
                )


def _is_unbalanced(pattern: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):  # about syntax that later versions change
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return any(message in str(error) for message in _UNBALANCED)
    return False
