"""Ties: all combinations of options come in turn."""

from policygen.simulate.kueue.ties import CycleTies, following


def _outcomes():
    """All pairs of a letter, and of a number that only the letter b asks for."""
    script = ()
    while script is not None:
        ties = CycleTies(script)
        letter = ties.pick("ab")
        yield letter, ties.pick([1, 2, 3]) if letter == "b" else None
        script = ties.following()


def test_all_combinations_come_in_turn():
    assert list(_outcomes()) == [("a", None), ("b", 1), ("b", 2), ("b", 3)]


def test_one_option_is_no_tie():
    ties = CycleTies()
    assert ties.pick(["only"]) == "only"
    assert ties.widths == []
    assert ties.following() is None


def test_the_next_script_changes_only_the_given_ties():
    assert following((), [2, 3]) == (0, 1)
    assert following((0, 2), [2, 3]) == (1,)
    assert following((0, 2), [2]) == (1,)
    assert following((1, 2), [2, 3]) is None


def test_each_tie_changes_alone():
    ties = CycleTies()
    for options in ("ab", "c", "def"):
        ties.pick(options)
    assert list(ties.singles()) == [(1,), (0, 1), (0, 2)]
