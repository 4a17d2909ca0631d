"""Messages about the progress are rare."""

from policygen.app import throttle
from policygen.app.throttle import Throttle


def test_a_few_messages_each_second_are_allowed(monkeypatch):
    now = [10.0]
    monkeypatch.setattr(throttle.time, "monotonic", lambda: now[0])
    it, allowed = Throttle(), []
    for step in range(1, 7):
        now[0] = 10 + step * 0.15
        allowed.append(it.allows())
    assert allowed == [False, True] * 3
