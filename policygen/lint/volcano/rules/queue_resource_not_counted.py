"""A Queue or PodGroup names a resource that Volcano does not count."""

from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb
from policygen.lint.volcano.misnamed_resources import misnamed_resources


def check(facts: Facts) -> Hits:
    """Volcano drops names without a domain and names of quotas; a misspelled name limits nothing.

    Source: pkg/scheduler/api/resource_info.go, NewResource;
    pkg/controllers/job/job_controller_actions.go.
    """
    for it in facts.cluster.derive(misnamed_resources):
        advice = f'write "{it.right}"' if it.right else "remove the amount"
        places = [it.owner.at.to(*path).on_key() for path in it.paths]
        yield Hit(
            RULE,
            f'{it.owner} has an amount of "{it.name}", which Volcano does not count, so the amount '
            f"has no effect; {advice}",
            places[0],
            tuple(places[1:]),
            meant=tuple(Edit(Verb.RENAME, at, it.right) for at in places if it.right),
        )


RULE = ObjectRule(
    "queue-resource-not-counted",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the name that pods use for the resource.",
    judges=("PodGroup", "Queue"),
    check=check,
    reads=("Node",),
)
