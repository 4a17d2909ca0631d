"""A resource has a binpack weight but is not listed in binpack.resources."""

from policygen.lint.core.resource_names import is_certain, meant
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb
from policygen.lint.volcano.configuration import plugins

_LIST = "binpack.resources"


def check(facts: Facts) -> Hits:
    """The plugins look up weights only of listed names.

    Source: pkg/scheduler/plugins/binpack/binpack.go, calculateWeight; network_topology_aware.go.
    """
    for plugin in plugins(facts):
        for key in (_LIST, f"hypernode.{_LIST}"):
            listed = plugin.arguments.get(key, "")
            if not isinstance(listed, str):
                continue
            names = {name.strip() for name in listed.split(",")}
            weighed = {name: name.removeprefix(f"{key}.") for name in plugin.arguments}
            missing = {it for name, it in weighed.items() if it not in (name, *names)}
            verb = Verb.REWRITE if key in plugin.arguments else Verb.ADD
            whole = ",".join(sorted({*names, *filter(is_certain, missing)} - {""}))
            edit = Edit(verb, plugin.argument_at(key)._replace(key=False), whole)
            for name, resource in weighed.items():
                if resource not in missing:
                    continue
                right = meant(resource)
                listing = ",".join(sorted({resource, *names} - {""}))
                yield Hit(
                    RULE,
                    f'{name} has no effect, because {key} does not list "{resource}"; did you mean "{right}"?'
                    if right
                    else f'{name} has no effect, because {key} does not list "{resource}"; write {key}: "{listing}"',
                    plugin.argument_at(name),
                    edits=(edit,) if is_certain(resource) else (),
                )


RULE = ObjectRule(
    "binpack-weight-not-listed",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Add the resource to binpack.resources.",
    judges=("volcano-scheduler.conf",),
    check=check,
    fix=Fix.UNSAFE,
)
