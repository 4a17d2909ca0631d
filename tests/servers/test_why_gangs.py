"""`policygen why` names why Volcano does not start a gang, and its changes start it: drawn scenes."""

from tests.servers.why_gangs import outcomes


def test_each_cause_is_named_and_its_changes_start_the_gang():
    found = list(outcomes(seed=1, count=1, remedies=3))
    assert [it for it in found if it.wrong] == []
    assert [it for it in found if not it.remedies and not it.ends] == []
    assert sum(it.remedies for it in found) > 20
    assert [it.failed for it in found if it.failed] == []
