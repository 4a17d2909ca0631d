"""The nightly audit under examples/: its role is what `policygen rbac` prints."""

from pathlib import Path

from click.testing import CliRunner

from policygen.cli.main import cli

FOLDER = Path(__file__).parents[1] / "examples" / "kueue-team-tree"
NIGHTLY = FOLDER / "audit" / "nightly.yaml"


def test_its_role_is_the_printed_one(update):
    spec = map(str, sorted(FOLDER.glob("*.yaml")))
    done = CliRunner().invoke(cli, ["rbac", "--name", "policygen-audit", *spec])
    assert done.exit_code == 0, done.output
    text = NIGHTLY.read_text("utf-8")
    role = text.index("---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n")
    current = text[:role] + done.stdout
    if update:
        NIGHTLY.write_text(current, "utf-8")
        text = current
    assert text == current


def test_it_is_clean_under_its_own_rules():
    done = CliRunner().invoke(cli, ["lint", "--partial", "--manifests", str(NIGHTLY)])
    assert done.exit_code == 0, done.output
    assert "no findings" in done.output
