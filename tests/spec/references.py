"""A spec of typed parts."""

from policygen.core.finding import At
from policygen.spec import references
from policygen.spec.types import Model, Platform, Pool, Quota, Spec, Team, TeamNamespace


def pool(name, scheduler=None):
    return Pool(name, At(0), (("pool", name),), scheduler=scheduler)


def team(name, *pools, parent=None, namespaces=True, at=0):
    place = At(at)
    quotas = tuple(Quota(of, place / "spec" / "quotas" / index) for index, of in enumerate(pools))
    owned = (TeamNamespace(f"{name}-ns"),) if namespaces else ()
    return Team(name, place, parent=parent, namespaces=owned, quotas=quotas)


def found(*parts, unread=None, platform=None, remnants=()):
    """Rule, path and message of every hit."""
    spec = Spec(
        platform=platform or Platform(),
        pools=tuple(it for it in parts if isinstance(it, Pool)),
        teams=tuple(it for it in parts if isinstance(it, Team)),
        models=tuple(it for it in parts if isinstance(it, Model)),
    )
    return [
        (hit.rule.name, hit.at.path, hit.message)
        for hit in references.check(spec, unread, remnants)
    ]


def rules(*parts, **more):
    return [rule for rule, _, _ in found(*parts, **more)]
