"""Jobs that name a queue, although Kueue does not manage their kind."""

import pytest

from policygen.simulate.passing_by import passing_by
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.causes import CauseKind
from policygen.simulate.why.explainer import Explainer
from tests.simulate.scenes import NODES, QUEUES, job, played, scene

CONFIGURATION = """
---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations: {frameworks: [pod]}
"""
MISSING = "integrations.frameworks of Kueue's Configuration does not have batch/job"


@pytest.mark.parametrize(
    ("jobs", "notes"),
    [
        (
            job("a", 1) + job("b", 1),
            [
                (
                    "Kueue does not manage Job nlp/a and Job nlp/b, although they name queues, so no quota "
                    f"holds for them: {MISSING}"
                )
            ],
        ),
        (job("a", 1, queue=""), []),
    ],
)
def test_who_names_a_queue_that_does_not_count(jobs, notes):
    it = scene(QUEUES + NODES + CONFIGURATION + jobs)
    assert list(passing_by(arrivals(it))) == notes
    assert played(QUEUES + NODES + CONFIGURATION + jobs)["nlp/a"].started == 0


@pytest.mark.parametrize(("gpus", "kind"), [(9, CauseKind.NOT_MANAGED), (8, CauseKind.ADMITTED)])
def test_why_says_so_of_pods_that_never_run(gpus, kind):
    it = scene(QUEUES + NODES + CONFIGURATION + job("a", gpus))
    explainer = Explainer(it, arrivals(it))
    found = explainer.explain(explainer.arrivals[0])
    assert found.cause.kind is kind
    assert found.cause.message == (MISSING if kind is CauseKind.NOT_MANAGED else "")
