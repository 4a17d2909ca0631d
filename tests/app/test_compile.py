"""Compiling a spec reports all its errors, including those of its settings."""

import pytest

PLATFORM = "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: a}\n"


def test_validate_warns_of_what_renders_nothing(run, tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(PLATFORM)
    code, out, err = run("validate", path, "--fail-on", "warning")
    assert (code, out) == (
        1,
        "valid, but 1 finding at or above warning: 0 pools, 0 teams, 0 models, 0 objects\n",
    )
    assert "[renders-nothing]" in err
    assert run("validate", path)[0] == 0


@pytest.mark.parametrize("command, exit_code", [("validate", 2), ("render", 2), ("lint", 3)])
@pytest.mark.parametrize("text", ["", "---\n", "# later\n", "apiVersion: v1\nkind: Namespace\n"])
def test_an_input_without_a_spec_document_is_not_clean(run, tmp_path, command, exit_code, text):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    for given in (path, tmp_path):
        code, out, err = run(command, given)
        assert code == exit_code
        assert "this input contains no spec document" in out + err
        assert "[nothing-to-check]" in out + err
        assert "valid" not in out
        assert "the spec renders no object" not in err
    allowed = ["--allow-empty"] if command == "render" else []
    (tmp_path / "platform.yaml").write_text(PLATFORM)
    assert run(command, tmp_path, *allowed)[0] == 0


def test_render_can_allow_an_input_without_a_spec_document(run, tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("# later\n")
    assert run("render", path, "--allow-empty") == (0, "", "")


@pytest.mark.parametrize("command", ["validate", "lint"])
@pytest.mark.parametrize("name", [None, "notes.txt"])
def test_a_folder_without_yaml_is_not_clean(run, tmp_path, command, name):
    if name:
        (tmp_path / name).write_text("notes")
    code, out, err = run(command, tmp_path)
    assert code == 2
    assert "[no-spec-files]" in out + err


def test_another_fault_of_a_platform_hides_no_rule_that_there_is_not(run, tmp_path):
    (tmp_path / "spec.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: a}\n"
        "spec:\n  colour: red\n  lint:\n    severities: {model-above-limi: info}\n"
        "    bounds: {gang-pending-lon: 1h}\n"
        "    waivers: [{rule: cohort-of-won, reason: a}, {rule: queue-stoped}, 3]\n"
    )
    code, out, err = run("validate", tmp_path / "spec.yaml")
    assert code == 2
    for told in (
        'unknown field "colour"',
        "model-above-limit",
        "gang-pending-long",
        "cohort-of-one",
        "queue-stopped",
        '"reason" is missing',
    ):
        assert told in out + err
