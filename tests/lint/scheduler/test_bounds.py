"""Values outside of profiles that kube-scheduler refuses."""

import pytest

from policygen.core.finding import dotted
from policygen.lint.scheduler.bounds import faults


@pytest.mark.parametrize(
    ("data", "path", "words"),
    [
        ({"parallelism": 0}, "parallelism", "write 1 or more"),
        ({"podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds", "write 1 or more"),
        ({"podInitialBackoffSeconds": 20}, "podInitialBackoffSeconds", "podMaxBackoffSeconds 10 is below"),
        ({"podInitialBackoffSeconds": 5, "podMaxBackoffSeconds": 4}, "podMaxBackoffSeconds", "write podMaxBackoffSeconds of 5 or more"),
        ({"clientConnection": {"burst": -1}}, "clientConnection.burst", "write 0 or more"),
        ({"leaderElection": {"leaseDuration": "10s"}}, "leaderElection.leaseDuration", "must be longer than renewDeadline"),
        ({"leaderElection": {"retryPeriod": "9s"}}, "leaderElection.retryPeriod", "longer than 1.2 times retryPeriod"),
        ({"leaderElection": {"renewDeadline": "-1s"}}, "leaderElection.renewDeadline", "write a positive duration"),
        ({"leaderElection": {"resourceLock": "endpoints"}}, "leaderElection.resourceLock", "write leases"),
        ({"leaderElection": {"retryPeriod": None}}, "leaderElection.retryPeriod", "is empty"),
        ({"extenders": [{"httpTimeout": None}]}, "extenders[0].httpTimeout", "is empty"),
        ({"extenders": [{"tlsConfig": {"certData": "!"}}]}, "extenders[0].tlsConfig.certData", "base64"),
        ({"extenders": [{"tlsConfig": {"insecure": True, "caFile": "a"}}]}, "extenders[0].tlsConfig.insecure", "remove one of them"),
        ({"extenders": [{"prioritizeVerb": "p"}]}, "extenders[0]", "write a weight of 1 or more"),
        ({"extenders": [{"bindVerb": "b"}, {"bindVerb": "b"}]}, "extenders[1].bindVerb", "two extenders"),
    ],
)  # fmt: skip
def test_what_is_refused(data, path, words):
    ((at, message),) = faults(data)
    assert dotted(at) == path
    assert words in message


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"parallelism": 1, "podInitialBackoffSeconds": 10, "podMaxBackoffSeconds": 10},
        {"leaderElection": {"leaderElect": False, "leaseDuration": "1s"}},
        {"leaderElection": {"leaseDuration": "60s", "renewDeadline": "40s", "retryPeriod": "5s"}},
        {"extenders": [{"prioritizeVerb": "p", "weight": 1, "bindVerb": "b"}]},
    ],
)
def test_what_is_not(data):
    assert list(faults(data)) == []
