"""The part of a refused spec that is still checked."""

from tests.spec.specs import PLATFORM, POOL, errors, read, team


def test_reading_in_part_leaves_no_false_errors_in_what_is_judged():
    """Of a refused spec only sums are checked further, and only if all their parts are valid."""
    loaded = read(
        PLATFORM.replace("value: 1", "value: one"),
        POOL,
        POOL.replace("name: p", "name: q").replace("nodes: 8", "nodes: x"),
        team("a", "cpu: {guarantee: 1Zi}"),
        team("b", "guarantee: 1"),
        team("c", "guarantee: 1", "  parent: a\n"),
    )
    assert {"wrong-type", "invalid-value"} <= set(errors(loaded))
    assert [it.name for it in loaded.sound.pools] == ["p"]
    assert [it.name for it in loaded.sound.teams] == ["b", "c"]
    assert loaded.sound.models == ()
    # The invalid Platform may have set another default scheduler.
    assert [it.scheduler for it in loaded.sound.pools] == ["kueue"]
