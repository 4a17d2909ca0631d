"""A spec is compiled with all its faults, those of its settings too."""

import pytest


@pytest.mark.parametrize("text", ["", "---\n"])
def test_validate_warns_of_what_renders_nothing(run, tmp_path, text):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    code, out, err = run("validate", path, "--fail-on", "warning")
    assert (code, out) == (1, "valid: 0 pools, 0 teams, 0 models, 0 objects\n")
    assert "[renders-nothing]" in err
    assert run("validate", path)[0] == 0


def test_another_fault_of_a_platform_hides_no_rule_that_there_is_not(run, tmp_path):
    (tmp_path / "spec.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: a}\n"
        "spec:\n  colour: red\n  lint:\n    severities: {model-above-limi: info}\n"
        "    bounds: {gang-pending-lon: 1h}\n    waivers: [{rule: cohort-of-won, reason: a}]\n"
    )
    code, out, err = run("validate", tmp_path / "spec.yaml")
    assert code == 2
    for told in (
        'unknown field "colour"',
        "model-above-limit",
        "gang-pending-long",
        "cohort-of-one",
    ):
        assert told in out + err
