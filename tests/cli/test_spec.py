"""`render` and `validate` as users call them: streams, exit codes, files."""

import json
import subprocess
import sys

import pytest
import yaml

from tests.cli.commands import ARTICLES, SPEC, kinds
from tests.conftest import ROOT


def test_render_prints_objects_in_apply_order(run, spec):
    code, out, err = run("render", spec)
    assert code == 0
    assert kinds(out) == ["ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue", "ConfigMap"]
    assert "error" not in err


def test_the_articles_render_without_an_edit(run):
    code, out, err = run("render", *ARTICLES)
    assert code == 0
    assert "ClusterQueue" in kinds(out)
    assert "llama-70b" in err
    assert "a100-80gb" in err


def test_an_error_leaves_standard_output_empty(run, spec):
    (spec / "bad.yaml").write_text(SPEC.replace("name: a\n", "name: b\n").replace("20", "-1"))
    code, out, err = run("render", spec)
    assert (code, out) == (2, "")
    assert "bad.yaml" in err


@pytest.mark.parametrize("threshold, code", [("error", 0), ("warning", 1), ("info", 1)])
def test_validate_fails_on(run, threshold, code):
    assert run("validate", *ARTICLES, "--fail-on", threshold)[0] == code


def test_validate_shows_the_notes_that_make_it_fail(run, spec):
    (spec / "pool.yaml").write_text(SPEC.split("---")[0].replace(": p\n", ": q\n"))
    _, _, quiet = run("validate", "-q", spec)
    assert "info: " not in quiet
    code, out, err = run("validate", "-q", "--fail-on", "info", spec)
    assert code == 1
    count = sum(
        f"{severity}: " in line for line in err.splitlines() for severity in ("info", "warning")
    )
    assert out.startswith(f"valid, but {count} findings at or above info: 2 pools, 1 team, ")


def test_validate_counts_what_there_is(run, spec):
    code, out, _ = run("validate", spec)
    assert (code, out) == (0, "valid: 1 pool, 1 team, 0 models, 5 objects\n")


@pytest.mark.parametrize("example", ["kueue-team-tree", "three-schedulers", "volcano-training"])
def test_validate_render_and_lint_count_the_same_objects(run, tmp_path, example):
    folder = tmp_path / "out"
    specs = sorted((ROOT / "examples" / example).glob("*.yaml"))
    _, valid, _ = run("validate", *specs)
    _, _, err = run("render", *specs, "-o", folder)
    _, report, _ = run("lint", "--manifests", folder, "-f", "json")
    count = json.loads(report)["objects"]
    assert valid.endswith(f", {count} objects\n")
    assert f"{count} written" in err


def test_target_overrides_the_platform(run, spec):
    _, out, _ = run("render", spec, "--target", "kueue=0.14", "--only", "ClusterQueue")
    (queue,) = yaml.safe_load_all(out)
    assert queue["apiVersion"] == "kueue.x-k8s.io/v1beta1"
    assert queue["spec"]["cohort"] == "p"


def test_an_empty_set_is_refused_unless_allowed(run, tmp_path):
    (tmp_path / "platform.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: empty}\n"
    )
    code, out, err = run("render", tmp_path)
    assert (code, out) == (2, "")
    assert "--allow-empty" in err
    assert run("render", tmp_path, "--allow-empty")[:2] == (0, "")


@pytest.mark.parametrize("name", ["out", "out.yaml"])
def test_output_inside_the_spec_folder_is_refused(run, spec, name):
    code, _, err = run("render", spec, "-o", spec / name)
    assert code == 2
    assert "is a spec file or inside a spec folder" in err
    assert not (spec / name).exists()


def test_redirection_into_the_spec_folder_is_refused(spec):
    with (spec / "manifests.yaml").open("wb") as target:
        done = subprocess.run(
            [sys.executable, "-m", "policygen", "render", spec],
            stdout=target,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert b"manifests.yaml" in done.stderr
    assert (spec / "manifests.yaml").read_bytes() == b""


def test_folder_check_and_removal(run, spec, tmp_path):
    out = tmp_path / "out"
    assert run("render", spec, "-o", out)[0] == 0
    names = sorted(path.name for path in out.glob("*.yaml"))
    assert "clusterqueue.a.p.yaml" in names
    assert run("render", spec, "-o", out, "--check")[:2] == (0, "")
    (spec / "policy.yaml").write_text(SPEC.replace("20", "24"))
    code, diff, _ = run("render", spec, "-o", out, "--check")
    assert code == 1
    assert '-              nominalQuota: "20"' in diff
    assert '+              nominalQuota: "24"' in diff
    (spec / "policy.yaml").write_text(SPEC.split("---\n", maxsplit=1)[0])
    assert run("render", spec, "-o", out)[0] == 0
    assert not (out / "clusterqueue.a.p.yaml").exists()


def test_edited_files_are_refused_and_named(run, spec, tmp_path):
    out = tmp_path / "out"
    run("render", spec, "-o", out)
    edited = out / "clusterqueue.a.p.yaml"
    edited.write_text(edited.read_text() + "# mine\n")
    (spec / "policy.yaml").write_text(SPEC.replace("20", "24"))
    code, _, err = run("render", spec, "-o", out)
    assert code == 2
    assert "clusterqueue.a.p.yaml" in err
    assert edited.read_text().endswith("# mine\n")


def test_another_sets_folder_is_refused(run, spec, tmp_path):
    out = tmp_path / "out"
    run("render", spec, "-o", out)
    other = spec.parent / "other"
    other.mkdir()
    (other / "spec.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: other}\n---\n"
        + SPEC.replace("name: p\n", "name: q\n").replace("pool: p", "pool: q")
    )
    code, _, err = run("render", other, "-o", out)
    assert code == 2
    assert "contains files of the set default (label policygen.dev/set)" in err
    assert (out / "clusterqueue.a.p.yaml").exists()


def test_a_folder_of_another_spec_with_the_same_set_is_refused(run, spec, tmp_path):
    """Both render the ConfigMap of the scheduler, whose name is that of the set."""
    out, other, more = tmp_path / "out", tmp_path / "other.yaml", tmp_path / "more.yaml"
    run("render", spec, "-o", out, "--kustomization")
    before = {it.name: it.read_bytes() for it in out.iterdir()}
    other.write_text(
        SPEC.replace("name: p\n", "name: q\n")
        .replace("pool: p", "pool: q")
        .replace(": a\n", ": b\n")
    )
    code, _, err = run("render", other, "-o", out, "--kustomization")
    assert code == 2
    assert "contains only files of teams that this spec does not have" in err
    assert {it.name: it.read_bytes() for it in out.iterdir()} == before
    more.write_text(f"{(spec / 'policy.yaml').read_text()}---\n{other.read_text()}")
    assert run("render", more, "-o", out, "--kustomization")[0] == 0
    assert run("render", spec, "-o", out, "--kustomization")[0] == 0  # without the second pool


def test_a_folder_of_other_teams_in_a_pool_of_the_same_name_is_refused(run, tmp_path):
    out, mine, other = tmp_path / "out", tmp_path / "mine.yaml", tmp_path / "other.yaml"
    pool, team = SPEC.split("---\n")
    two = [team.replace(": a\n", f": {name}\n").replace("16", "8") for name in ("b", "c")]
    mine.write_text(SPEC)
    other.write_text("---\n".join([pool, *two]))
    run("render", other, "-o", out)
    before = {it.name: it.read_bytes() for it in out.iterdir()}
    for options in ((), ("--check",)):
        code, printed, err = run("render", mine, "-o", out, *options)
        assert (code, printed) == (2, "")
        assert "another spec with the same name of its set probably rendered them" in err
    assert {it.name: it.read_bytes() for it in out.iterdir()} == before


@pytest.mark.parametrize("command", ["render", "validate"])
def test_manifests_passed_as_a_spec_are_not_an_empty_spec(run, tmp_path, command):
    file = tmp_path / "manifests.yaml"
    file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    code, out, err = run(command, file)
    assert (code, out) == (2, "")
    assert f"if the input contains manifests, run `policygen lint --manifests {file}" in err


def test_a_page_about_an_invalid_spec_says_that_not_all_checks_ran(run, spec):
    (spec / "bad.yaml").write_text(SPEC.replace("name: a\n", "name: b\n").replace("20", "-1"))
    code, out, _ = run("validate", "-f", "markdown", spec)
    assert code == 2
    assert out.splitlines()[2] == "the spec is invalid; checks that need a valid spec did not run"
