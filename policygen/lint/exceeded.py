"""Joins hits about one amount that exceeds several limits, so that it is reported once.

Each rule knows one limit. Users who lower the amount only to this limit would get the next finding.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from policygen.core.amounts import at_most, has_unit
from policygen.core.finding import At, Hit
from policygen.core.quoting import listed, some

Hits = tuple[Hit, ...]


def joined(found: Sequence[Hits]) -> list[Hits]:
    """The hits of all rules, with one hit for each amount, and for each number of pods.

    It is the most severe hit, first one about a single pod, then one about several amounts, and then the
    one with the lowest limit. Its message names the other limits. A hit that is also about other amounts stays.
    A hit about several objects includes what others report about one of them, except about single pods.
    """
    by_object: dict[At, list[Hit]] = {}
    shared: list[Hit] = []
    for hit in (hit for hits in found for hit in hits if hit.exceeds):
        if hit.exceeds[0].owner:
            shared.append(hit)
        else:
            by_object.setdefault(hit.exceeds[0].object, []).append(hit)
    instead: dict[int, Hit | None] = {}
    for hit in shared:
        instead |= _with_objects(hit, by_object)
    for hits in by_object.values():
        if len({hit.rule for hit in hits}) > 1:
            instead |= _instead(hits)
    if not instead:
        return list(found)
    return [
        tuple(without(hits, instead)) if any(id(it) in instead for it in hits) else hits
        for hits in found
    ]


def _with_objects(main: Hit, by_object: Mapping[At, list[Hit]]) -> dict[int, Hit | None]:
    """What replaces a hit about several objects and those that it includes, which leave `by_object`."""
    amounts: dict[At, tuple[str, set[str]]] = {}
    for it in main.exceeds:
        amounts.setdefault(it.object, (it.owner, set()))[1].add(it.resource)
    limits: dict[str, None] = {}
    made: dict[int, Hit | None] = {}
    for object_, (owner, resources) in amounts.items():
        hits = by_object.get(object_, [])
        for hit in [*hits]:
            if _amounts(hit) <= resources and not _is_of_pod(hit):
                hits.remove(hit)
                made[id(hit)] = None
                limits |= {f"for {owner}, {it.limit}": None for it in hit.exceeds}
    if made:
        fault, _, remedy = main.message.rpartition("; ")
        message = f"{fault} (also, {some([*limits], 'other limit')}); {remedy}"
        made[id(main)] = main._replace(message=message)
    return made


def without(hits: Hits, instead: Mapping[int, Hit | None]) -> Iterable[Hit]:
    """The hits with those that replace them, by their ids; None omits a hit."""
    for hit in hits:
        other = instead.get(id(hit), hit)
        if other is not None:
            yield other


def _instead(hits: Iterable[Hit]) -> dict[int, Hit | None]:
    """What replaces hits about one object, by their ids; None for those that others include."""
    kept: list[tuple[Hit, list[Hit]]] = []
    for hit in sorted(hits, key=_rank):
        amounts = _amounts(hit)
        of_others = [it for it in kept if it[0].rule is not hit.rule]
        near = [it for it in of_others if amounts & _amounts(it[0])]
        same = [it for it in of_others if it[0].at == hit.at and _is_number_of_pods(hit.at)]
        if near and amounts <= set().union(*(_amounts(main) for main, _ in near)):
            near[0][1].append(hit)
        elif same:
            same[0][1].append(hit)
        else:
            kept.append((hit, []))
    made: dict[int, Hit | None] = {}
    for main, others in kept:
        if others:
            limits = dict.fromkeys(it.limit for hit in others for it in hit.exceeds)
            related = dict.fromkeys((*main.related, *(at for it in others for at in it.related)))
            fault, _, remedy = main.message.rpartition("; ")
            at, pod = main.at, next(filter(_is_of_pod, others), None)
            if pod is not None and not _is_of_pod(main):
                shares = _shares(main)
                fitting = [
                    at_most(it.resource, min(it.most, shares.get(it.resource, it.most)))
                    for it in pod.exceeds
                ]
                enough = "" if _is_enough(main, pod) else f", and {remedy}"
                at, remedy = pod.at, f"request at most {listed(fitting, 'and')} in a pod{enough}"
            message = f"{fault} (also, {', and '.join(limits)}); {remedy}"
            made[id(main)] = main._replace(message=message, at=at, related=tuple(related))
            made |= {id(hit): None for hit in others}
    return made


def _is_number_of_pods(at: At | None) -> bool:
    """Whether a hit is at the number of pods: fewer pods then use less of every resource."""
    return at is not None and at.path[-1:] in (("replicas",), ("parallelism",))


def _shares(main: Hit) -> dict[str, Fraction]:
    """By resource, what each pod can request so that all of them keep to the limit; whole numbers of devices."""
    shares = {it.resource: it.most / it.pods for it in main.exceeds if it.pods}
    whole = {
        name: it if has_unit(name) else Fraction(it.numerator // it.denominator)
        for name, it in shares.items()
    }
    return {name: it for name, it in whole.items() if it > 0}


def _is_enough(main: Hit, pod: Hit) -> bool:
    """Whether smaller pods alone are enough, so that all pods together keep to the limit of a hit."""
    return {it.resource for it in main.exceeds} <= _shares(main).keys() & _amounts(pod)


def _is_of_pod(hit: Hit) -> bool:
    return any(it.of_pod for it in hit.exceeds)


def _amounts(hit: Hit) -> set[str]:
    return {it.resource for it in hit.exceeds}


def _rank(hit: Hit) -> tuple[int, bool, int, Fraction]:
    lowest = min(hit.exceeds, key=lambda it: it.most)
    return -hit.rule.severity, not lowest.of_pod, -len(hit.exceeds), lowest.most
