"""References in a spec: their targets exist, and they form no cycle."""

from policygen.core.finding import At
from policygen.spec.types import Model, Placement, Platform, SharedQueue
from policygen.spec.unread import Unread
from tests.spec.references import found, pool, rules, team


def test_sound_spec_has_no_hits():
    assert found(pool("p"), team("a", "p"), team("b", "p", parent="a")) == []


def test_a_team_is_not_suggested_as_its_own_parent():
    orphan = team("vision-a", parent="vision")
    (alone,) = found(orphan)
    assert alone[2] == 'Team "vision" does not exist; no other Team is defined'
    (other,) = found(orphan, team("vsion"))
    assert other[2] == 'Team "vision" does not exist; did you mean "vsion"?'


def test_the_names_in_refused_documents_are_known():
    unread = Unread()
    unread.document("ResourcePool", {"metadata": {"name": "h100"}}, lambda _: False)
    (hit,) = found(team("a", "qq"), unread=unread)
    assert hit[2] == 'ResourcePool "qq" does not exist; known: h100'
    unread = Unread()
    unread.text("kind: ResourcePool\nmetadata: {name: h100}")
    (hit,) = found(team("a", "qq"), unread=unread)
    assert hit[2] == 'ResourcePool "qq" does not exist; write a name that the spec defines'


def test_each_cycle_is_found_once_at_its_first_member():
    spec = [
        team("a", parent="c"),
        team("b", parent="a"),
        team("c", parent="b"),
        team("tail", parent="b"),
        team("longer-tail", parent="tail"),
        team("x", parent="y"),
        team("y", parent="x"),
        team("z", parent="z"),
        team("root"),
        team("leaf", parent="root"),
    ]
    cycles = [message for rule, _, message in found(*spec) if rule == "team-cycle"]
    assert [message.partition("; ")[0] for message in cycles] == [
        "these teams form a cycle of parents: a → c → b → a",
        "these teams form a cycle of parents: x → y → x",
        'team "z" is its own parent',
    ]


def test_long_cycle_is_reported_in_one_short_line():
    teams = [team(f"t{n:04}", parent=f"t{(n + 1) % 3000:04}") for n in range(3000)]
    [message] = [message for rule, _, message in found(*teams) if rule == "team-cycle"]
    way = "t0000 → t0001 → t0002 → t0003 → t0004 → (2994 more) → t2999 → t0000"
    assert way in message


def test_nearest_name_is_looked_up_for_some_and_once_for_each():
    teams = [team(f"team-{n:04}", f"poool-{n:04}") for n in range(3000)]
    spec = [*(pool(f"pool-{n:04}") for n in range(3000)), *teams]
    messages = [message for rule, _, message in found(*spec) if rule == "unknown-reference"]
    assert len(messages) == 3000
    assert messages[0] == 'ResourcePool "poool-0000" does not exist; did you mean "pool-0000"?'
    assert 5 < sum("did you mean" in message for message in messages) < 50
    assert (
        messages[-1]
        == 'ResourcePool "poool-2999" does not exist; write a name that the spec defines'
    )


def test_names_in_messages_are_short_and_printable():
    [(_, _, message)] = found(pool("p"), team("a", "x\x1b[31m\n" + "y" * 5000))
    assert message.isprintable()
    assert len(message) < 200


def test_a_name_that_may_be_among_the_refused_is_not_an_error():
    unread = Unread()
    unread.text("kind: Team\nmetadata: {name: hidden}\nspec: {parent: inner}")
    spec = [
        pool("p"),
        team("a", "p", parent="hidden"),
        team("b", "p", parent="lost"),
        team("inner", "p", namespaces=False),
        team("outer", "p", namespaces=False),
    ]
    assert rules(*spec, unread=unread) == ["unknown-reference", "team-without-namespaces"]


def test_what_is_left_of_refused_documents_refers_as_well():
    left = [
        team("a", "nowhere", parent="nobody"),
        Model("m", At(1), team="nobody", priority="none", placement=Placement(pools=("nowhere",))),
        Platform("set", At(2), shared_queues=(SharedQueue("q", At(2), ("p", "nowhere")),)),
    ]
    hits = [(path, message) for _, path, message in found(pool("p"), team("b", "p"), remnants=left)]
    # A missing name is reported once, with all that refer to it.
    assert [path for path, _ in hits] == [
        ("spec", "parent"),
        ("spec", "quotas", 0, "pool"),
        ("spec", "priority"),
    ]
    assert 'does not exist, but Team "a", Model "m" and the Platform refer to it; ' in hits[1][1]


def test_a_missing_name_with_a_semicolon_stays_complete():
    hits = found(pool("p"), team("a", "x; y"), team("b", "x; y"))
    assert [it.partition(" does not exist, but ")[0] for _, _, it in hits] == [
        'ResourcePool "x; y"'
    ]


def test_namespaces_of_a_team_that_was_read_in_part_are_not_all_known():
    model = Model("m", At(1), team="a", namespace="other")
    spec = [pool("p"), team("a", "p", at=7), model]
    assert rules(*spec) == ["unknown-reference"]
    unread = Unread()
    unread.parts.add(7)
    assert rules(*spec, unread=unread) == []
