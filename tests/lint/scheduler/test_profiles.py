"""Plugins of a profile that kube-scheduler refuses."""

import msgspec
import pytest

from policygen.core.finding import dotted
from policygen.core.versions import Version
from policygen.kubernetes.configurations import SchedulerProfileView
from policygen.lint.scheduler.profiles import faults, misnamed

V = Version(1, 36)


def profile(**plugins):
    return msgspec.convert({"plugins": plugins}, SchedulerProfileView)


def names(*several):
    return [{"name": name} for name in several]


@pytest.mark.parametrize(
    ("it", "path", "words"),
    [
        (profile(score={"enabled": names("NodeAffinity", "NodeAffinity")}), "plugins.score.enabled[1].name", "is enabled twice"),
        (profile(bind={"enabled": names("DefaultBinder", "NodeAffinity")}), "plugins.bind.enabled[1].name", "cannot run at extension point bind"),
        (profile(score={"enabled": [{"name": "NodeAffinity", "weight": -1}]}), "plugins.score.enabled[0].weight", "the total weight is negative"),
        (profile(score={"enabled": [{"name": "NodeAffinity", "weight": -1}], "disabled": names("*")}), "plugins.score.enabled[0].weight", "the total weight is negative"),
        (profile(multiPoint={"enabled": [{"name": "TaintToleration", "weight": -1}]}), "plugins.multiPoint.enabled[0].weight", "write 1 or more"),
        (profile(bind={"disabled": names("*")}), "plugins.bind.disabled", "no plugin binds pods"),
        (profile(queueSort={"disabled": names("PrioritySort")}), "plugins.queueSort.disabled", "no plugin sorts the waiting pods"),
        (profile(multiPoint={"enabled": names("Coscheduling")}), "plugins.multiPoint.enabled[0].name", "add PrioritySort to multiPoint.disabled"),
        (profile(queueSort={"enabled": names("Coscheduling", "QOSSort")}), "plugins.queueSort.enabled[0].name", "remove QOSSort from queueSort.enabled"),
        (profile(queueSort={"enabled": names("QOSSort")}), "plugins.queueSort.enabled[0].name", "both sort the waiting pods"),
        (profile(multiPoint={"enabled": names("Coscheduling"), "disabled": names("*")}), "plugins.multiPoint.disabled", "no plugin binds pods"),
        (profile(score={"enabled": names("Coscheduling")}), "plugins.score.enabled[0].name", "cannot run at extension point score"),
    ],
)  # fmt: skip
def test_what_is_refused(it, path, words):
    ((at, message),) = faults(it, V)
    assert dotted(at) == path
    assert words in message


@pytest.mark.parametrize(
    "it",
    [
        profile(),
        profile(score={"disabled": names("*"), "enabled": names("NodeResourcesFit")}),
        profile(multiPoint={"enabled": names("NodeAffinity")}),
        profile(multiPoint={"enabled": [{"name": "NodeAffinity", "weight": -1}]}),
        profile(bind={"disabled": names("*"), "enabled": names("DefaultBinder")}),
        profile(bind={"disabled": names("*"), "enabled": names("MyBinder")}),
        profile(multiPoint={"enabled": names("Coscheduling"), "disabled": names("PrioritySort")}),
        profile(
            multiPoint={"enabled": names("Coscheduling")},
            queueSort={"enabled": names("Coscheduling"), "disabled": names("*")},
        ),
    ],
)
def test_what_is_not(it):
    assert list(faults(it, V)) == []


def test_all_plugins_off_is_both():
    found = [message for _, message in faults(profile(multiPoint={"disabled": names("*")}), V)]
    assert len(found) == 2


def test_a_disabled_plugin_that_no_release_has():
    it = profile(score={"disabled": names("*", "NodeAffinity", "NodeAfinity")})
    assert [(dotted(path), name) for path, name in misnamed(it)] == [
        ("plugins.score.disabled[2].name", "NodeAfinity")
    ]
