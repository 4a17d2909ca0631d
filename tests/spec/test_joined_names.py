"""Names that become too long, or equal, when they are joined."""

from policygen.core.finding import At
from policygen.spec.types import Platform, Priority, SharedQueue
from tests.spec.references import found, pool, rules, team

LONG = "t" * 60


def test_own_leaf_counts_only_where_a_child_has_the_same_pool():
    parent = team(LONG, "p", "q")
    spec = [pool("p"), pool("q"), parent]
    assert found(*spec) == []
    hits = found(*spec, team("child", "q", parent=LONG))
    assert [(rule, path) for rule, path, _ in hits] == [
        ("composed-name-too-long", ("spec", "quotas", 1, "pool"))
    ]


def test_queue_name_counts_where_pools_share_a_queue():
    shared = SharedQueue("queue", At(0), ("p", "q"))
    platform = Platform("set", At(0), shared_queues=(shared,))
    spec = [pool("p"), pool("q"), team(LONG, "p", "q")]
    [(rule, _, message)] = found(*spec, platform=platform)
    assert rule == "composed-name-too-long"
    assert f"{LONG}.queue" in message


def test_priorities_have_second_names_only_on_mixed_platforms():
    names = ("x" * 60, "a", "a.preempting")
    priorities = tuple(Priority(name, At(0), 1) for name in names)
    platform = Platform("set", At(0), priorities=priorities)
    assert rules(pool("p"), platform=platform) == []
    mixed = rules(pool("p"), pool("v", "volcano"), platform=platform)
    assert mixed == ["composed-name-too-long", "name-collision"]


def test_set_of_no_platform_has_no_name_to_blame():
    assert found(platform=Platform("s" * 60)) == []
