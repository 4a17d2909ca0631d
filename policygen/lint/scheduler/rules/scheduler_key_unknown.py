"""A field of a KubeSchedulerConfiguration does not exist, so kube-scheduler does not start."""

from typing import Any

from policygen.core.finding import At
from policygen.core.suggest import Names, suggest
from policygen.kubernetes.untyped import entries, numbered
from policygen.lint.core.typed_fields import Fields, Type
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb
from policygen.lint.scheduler import terms


def check(facts: Facts) -> Hits:
    """kube-scheduler decodes the file strictly, also the arguments of plugins.

    Source: pkg/scheduler/apis/config/scheme; k8s.io/kube-scheduler/config/v1 (1.36.3).
    """
    target = facts.target["kubernetes"]
    for entry in facts.cluster.scheduler_configurations:
        yield from _fields(entry.object.data, terms.configuration(target), entry.at)
        for i, profile in numbered(entry.object.data, "profiles"):
            for j, config in numbered(profile, "pluginConfig"):
                fields = terms.arguments(str(config.get("name")), target)
                if fields is not None:
                    at = entry.at.to("profiles", i, "pluginConfig", j, "args")
                    yield from _fields(config.get("args"), fields, at)


def _fields(data: Any, fields: Fields, at: At) -> Hits:
    if not isinstance(data, dict):
        return
    for key, value in data.items():
        if key not in fields:
            names, place = Names(fields), (at / key).on_key()
            right = names.meant(str(key))
            yield Hit(
                RULE,
                f'field "{key}" does not exist at this place, so kube-scheduler does not start; '
                f"{suggest(str(key), names)}",
                place,
                meant=(Edit(Verb.RENAME, place, right),) if right and right not in data else (),
            )
            continue
        inner = fields[key]
        if inner is None or isinstance(inner, Type):
            continue
        if key in terms.LISTS:
            for i, item in enumerate(entries(value)):
                yield from _fields(item, inner, at.to(key, i))
        else:
            yield from _fields(value, inner, at / key)


RULE = ObjectRule(
    "scheduler-key-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the field name as kubescheduler.config.k8s.io/v1 defines it.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
    aliases=("scheduler-word-unknown",),
)
