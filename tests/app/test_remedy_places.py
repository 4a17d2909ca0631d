"""Files and lines of what remedies change."""

import re

from policygen.app import why as app_why
from policygen.app.requests import SimulateRequest
from policygen.report.remedy_words import remedy
from tests.app.simulations import EXAMPLE, written
from tests.simulate.scenes import NODES, QUEUES, job


def texts(report):
    (found,) = report.found
    return found, [remedy(it.changes, found.place) for it in found.remedies]


def line(path, words):
    """The number of the first line of a file with these words."""
    lines = path.read_text("utf-8").splitlines()
    return next(i for i, it in enumerate(lines, 1) if words in it)


def test_fields_of_manifests_and_the_own_object_have_a_place(tmp_path):
    """12 GPUs are quota, 8 of them in use."""
    queues = written(tmp_path, QUEUES + NODES, "queues.yaml")
    jobs = written(tmp_path, job("a", 8) + job("b", 2, pods=4), "jobs.yaml")
    request = SimulateRequest(workloads=(queues, jobs))
    found, words = texts(app_why.why(request, ("nlp/b",)))
    own = line(tmp_path / "jobs.yaml", "name: b") - 2  # apiVersion and kind come before
    assert found.place == f"jobs.yaml:{own}"
    assert words[0].endswith(f"so that it can run with 2 of its 4 pods (jobs.yaml:{own}).")
    quota = line(tmp_path / "queues.yaml", "nvidia.com/gpu, nominalQuota")
    assert any(
        re.search(rf"in ClusterQueue nlp from 12 to \d+ \(queues.yaml:{quota}\)\.", it)
        for it in words
    )


def test_files_of_one_name_are_told_apart_by_their_folder(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    queues = written(tmp_path / "one", QUEUES + NODES, "x.yaml")
    jobs = written(tmp_path / "two", job("a", 8) + job("b", 2, pods=4), "x.yaml")
    found, _ = texts(app_why.why(SimulateRequest(workloads=(queues, jobs)), ("nlp/b",)))
    assert found.place.startswith(f"{jobs}:")


def test_a_spec_and_its_jobs():
    request = SimulateRequest(
        specs=(str(EXAMPLE / "policy.yaml"),), workloads=(str(EXAMPLE / "jobs"),)
    )
    found, words = texts(app_why.why(request, ("language/embed-corpus",)))
    assert found.place.startswith("language.yaml:")
    raised = [it for it in words if "guarantee of team language" in it]
    assert all(re.search(r"to \d+ \(policy\.yaml:\d+\)\.$", it) for it in raised)
    assert raised
