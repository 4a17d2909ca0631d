"""Which changes keep the fingerprint of a finding, and which change it."""

from policygen.core.finding import Finding, Place
from policygen.core.fingerprint import fingerprints
from tests.rules import rule

FINDING = Finding(rule("a"), "m", Place("a.yaml", 3), "Pod x", "spec.c[0]", "spec.c.main")


def test_fingerprints_outlive_other_places_and_orders():
    found = [
        FINDING,
        Finding(rule("a"), "no object", Place("a.yaml", 1)),
        FINDING._replace(rule=rule("b")),
    ]
    moved = [it._replace(place=Place("c.yaml", 9, 9), path="spec.c[7]") for it in reversed(found)]
    assert sorted(fingerprints(found)) == sorted(fingerprints(moved))
    assert len(set(fingerprints([*found, *found]))) == 2 * len(found)


def test_an_object_is_known_by_its_field_and_all_else_by_its_message():
    (one,) = fingerprints([FINDING])
    for same in [FINDING._replace(message="n"), FINDING._replace(path="spec.c[1]")]:
        assert fingerprints([same]) == [one]
    for other in [
        FINDING._replace(object="Pod y"),
        FINDING._replace(anchor="spec.c.other"),
        FINDING._replace(cluster="east"),
        FINDING._replace(rule=rule("b")),
    ]:
        assert fingerprints([other]) != [one]
    assert fingerprints([Finding(rule("a"), "m")]) != fingerprints([Finding(rule("a"), "n")])


def test_a_former_name_makes_the_fingerprint_of_its_time():
    former = fingerprints([FINDING], lambda it: f"former-{it.name}")
    assert former == fingerprints([FINDING._replace(rule=rule("former-a"))])
