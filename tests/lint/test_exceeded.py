"""Hits about one amount that exceeds several limits."""

from fractions import Fraction

from policygen.core.finding import At, Exceeded, Hit
from policygen.core.rule import Family, Rule, Severity
from policygen.lint.exceeded import joined

JOB, OTHER = At(0), At(1)
ERROR, SECOND, WARNING = (
    Rule(name, severity, Family.INERT, "about", remedy="Do it.")
    for name, severity in (
        ("first", Severity.ERROR),
        ("second", Severity.ERROR),
        ("third", Severity.WARNING),
    )
)


def hit(rule, *limits, of_pod=False, at=JOB):
    exceeds = tuple(
        Exceeded(at, resource, Fraction(most), f"{rule.name} allows {most}", of_pod=of_pod)
        for resource, most in limits
    )
    return Hit(rule, f"{rule.name} is too low; raise {rule.name}", at, exceeds=exceeds)


def messages(*hits):
    return [[it.message for it in found] for found in joined([(it,) for it in hits])]


def test_the_lowest_limit_is_reported_with_the_others_before_the_remedy():
    found = messages(hit(ERROR, ("gpu", 48)), hit(SECOND, ("gpu", 16)))
    assert found == [[], ["second is too low (also, first allows 48); raise second"]]


def test_an_error_is_not_hidden_by_a_warning_and_a_limit_of_pods_comes_first():
    found = messages(hit(ERROR, ("gpu", 48)), hit(WARNING, ("gpu", 8), of_pod=True))
    remedy = "request at most 8 gpu in a pod, and raise first"
    assert found == [[f"first is too low (also, third allows 8); {remedy}"], []]
    found = messages(hit(ERROR, ("gpu", 4)), hit(SECOND, ("gpu", 8), of_pod=True))
    assert found == [[], ["second is too low (also, first allows 4); raise second"]]


def test_the_remedy_for_a_pod_is_enough_if_all_pods_then_keep_to_the_other_limits():
    for pods, most in ((6, 8), (7, 6)):
        of_all = hit(ERROR, ("gpu", 48))
        exceeds = tuple(it._replace(pods=pods) for it in of_all.exceeds)
        of_pod = hit(WARNING, ("gpu", 8), of_pod=True)._replace(at=OTHER)
        [[found], []] = joined([(of_all._replace(exceeds=exceeds),), (of_pod,)])
        assert found.message.endswith(f"; request at most {most} gpu in a pod")
        assert found.at == OTHER


def test_one_number_of_pods_is_one_finding_for_all_amounts():
    at = JOB.to("spec", "replicas")
    hits = hit(ERROR, ("gpu", 8))._replace(at=at), hit(SECOND, ("memory", 9))._replace(at=at)
    assert messages(*hits) == [["first is too low (also, second allows 9); raise first"], []]
    hits = [it._replace(at=JOB / "spec") for it in hits]
    assert messages(*hits) == [[it.message] for it in hits]


def test_hits_about_another_amount_or_object_stay():
    hits = hit(ERROR, ("gpu", 8)), hit(WARNING, ("gpu", 9), ("cpu", 1))
    assert messages(*hits) == [[it.message] for it in hits]
    hits = hit(ERROR, ("gpu", 8)), hit(SECOND, ("gpu", 9), at=OTHER)
    assert messages(*hits) == [[it.message] for it in hits]
    hits = hit(ERROR, ("gpu", 8)), Hit(SECOND, "no amount")
    assert messages(*hits) == [[it.message] for it in hits]


def test_a_hit_about_several_objects_includes_those_about_one_of_them():
    exceeds = tuple(
        Exceeded(at, "gpu", Fraction(8), "first allows 8", owner=name)
        for at, name in ((JOB, "a"), (OTHER, "b"))
    )
    shared = Hit(ERROR, "first is too low; raise first", exceeds=exceeds)
    others = hit(WARNING, ("gpu", 4)), hit(WARNING, ("gpu", 6), at=OTHER)
    limits = "for a, third allows 4 and for b, third allows 6"
    found = messages(shared, *others)
    assert found == [[f"first is too low (also, {limits}); raise first"], [], []]
    others = hit(WARNING, ("gpu", 4), ("cpu", 1)), hit(WARNING, ("gpu", 6), of_pod=True, at=OTHER)
    assert messages(shared, *others) == [[it.message] for it in (shared, *others)]
