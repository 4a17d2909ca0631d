"""Options: their valid values, and errors for combinations that cannot work."""

import os
import sys

import pytest

from tests.cli.commands import SPEC, kinds


def test_standard_input(run, monkeypatch):
    reading, writing = os.pipe()
    os.write(writing, SPEC.encode())
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": pipe})())
        code, out, _ = run("render", "-")
    assert code == 0
    assert "ClusterQueue" in kinds(out)


@pytest.mark.parametrize(
    "option, word",
    [
        (["--target", "kueue=0.12"], "0.13"),
        (["--target", "kueue=latest"], "0.13"),
        (["--target", "kubernetes"], "COMPONENT=VERSION"),
        (["--target", "kai=1.0"], "kueue"),
        (["--target", "kueue=0.18", "--target", "kueue=0.19"], "two versions"),
        (["-o", "out.json"], "manifests are written as YAML"),
        (["--only", "ClusterQueues"], "ClusterQueue"),
        (["--with", "everything"], "volcano-config"),
        (["--with", "kueue-config"], "spec.kueue.configuration"),
        (["--with", "second-scheduler"], "spec.kubeScheduler.image"),
        (["--check"], "-o"),
        (["-o", ""], "-o needs a folder"),
        (["-o", "-"], "standard output"),
        (["--only", "Cohort", "-o", "out"], "--only"),
        (["--only", "Namespace"], "--allow-empty"),
        (["--templates", "nowhere"], "nowhere"),
        (["--raw-scheduler-config", "--kueue-helm-values"], "one"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_impossible_options_are_reported(run, spec, option, word):
    code, out, err = run("render", spec, *option)
    assert (code, out) == (2, "")
    assert word in err
    assert "Traceback" not in err


def test_only_is_case_insensitive_and_repeatable(run, spec):
    _, out, _ = run("render", spec, "--only", "localqueue", "--only", "Cohort")
    assert kinds(out) == ["Cohort", "LocalQueue"]
