"""A drawn platform on the real servers ends as the simulation says. `platforms.py` plays large ones."""

from dataclasses import replace

from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster as Objects
from policygen.kubernetes.kueue_settings import first
from policygen.lint.registry import RULES
from policygen.simulate.instant import instant
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_pools import cluster_nodes
from policygen.simulate.why.explainer import Explainer

from .platform_draws import drawn
from .platforms import PlatformRun
from .seen import look


def test_a_platform_ends_as_simulated(cluster):
    found = PlatformRun(cluster, drawn(1, events=(15, 15)), quiet_s=2.5).play()
    assert not found.differences
    assert found.compared == 2


def waiting(scene, found):
    """The jobs that wait, and why."""
    explainer = Explainer(scene, found)
    causes = {it.name: explainer.explain(it, search=False) for it in explainer.pending()}
    return {name: it.cause.kind for name, it in causes.items() if it.waits}


def test_why_without_a_cluster_is_why_of_the_cluster(cluster):
    """The same jobs wait for the same causes, in the state in which none has ended and in a snapshot."""
    platform = drawn(5, events=(14, 14))
    jobs = [it for it in platform.events if it is not None]
    run = PlatformRun(cluster, replace(platform, events=jobs), quiet_s=2.5)
    assert not run.play().differences
    seen = look(cluster, [it.name for it in RULES])
    objects = Objects(seen.objects, seen.seen, seen.pods)
    scene = Scene(objects, first(objects, DEFAULT["kueue"]), cluster_nodes(objects))
    theirs = waiting(scene, arrivals(scene))
    alone = run.scene()
    outcomes = []
    for seed in run.seeds:
        then = instant(alone, run.arrivals(alone), None, seed)
        outcomes.append(waiting(then.scene, then.arrivals))
    assert theirs in outcomes
    assert theirs
