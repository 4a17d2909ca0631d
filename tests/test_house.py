"""Conventions that tools check: lint, format, types, layers, and generated docs."""

import ast
import hashlib
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

import policygen
from policygen.cli.test import FORMATS as TEST_FORMATS
from policygen.plan.extras import EXTRAS
from policygen.report.catalog import FORMATS
from policygen.testing.outcome import FORMS
from tests import architecture
from tests.servers.build import cache_folder

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check"],
        ["ruff", "format", "--check"],
        ["mypy"],
        ["lint-imports"],
        ["yamllint", "--strict", "examples"],
    ],
    ids=" ".join,
)
def test_tool_finds_nothing(command):
    program, *options = command
    if program == "mypy":
        # Outside the checkout, which a cleaner may empty; two checkouts must not share it, since
        # runs at the same time mix up their files.
        checkout = hashlib.sha256(bytes(ROOT)).hexdigest()[:12]
        options = ["--cache-dir", cache_folder() / "mypy" / checkout]
    done = subprocess.run(
        [Path(sys.executable).parent / program, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,  # mypy without a cache, beside the servers of other tests
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_names_of_extras_are_written_in_one_place():
    with_dash = {it for it in EXTRAS if "-" in it}  # the others are words with other meanings, too
    writing = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "policygen").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in with_dash
    }
    assert writing == {"policygen/plan/extras.py"}


def test_no_group_of_a_pattern_is_possessive():
    """Python before 3.11.5 matches such groups wrongly: python/cpython#106052."""
    found = [
        f"{path}: {node.value}"
        for path in sorted((ROOT / "policygen").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.search(r"(?<![\\(])\)[*+?]\+|\(\?>", node.value)
    ]
    assert found == []


def test_each_class_has_a_name_of_its_own():
    places = defaultdict(list)
    for path in sorted((ROOT / "policygen").rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(ROOT).as_posix())
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_every_exception_has_its_reason_on_its_line():
    bare = re.compile(r"# (noqa(: [A-Z0-9, ]+)?|type: ignore(\[[a-z, -]+\])?)\s*$")
    assert [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in ("policygen", "tests", "benchmarks")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if bare.search(line)
    ] == []


def test_the_layers_of_the_docs_are_those_that_are_checked():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = (it["layers"] for it in contracts["contracts"] if it["name"] == "layers")
    block = (ROOT / "docs" / "design.md").read_text("utf-8").split("```")[1]
    told = [" ".join(layer.split()) for layer in block.split("→")]
    assert told == [layer.replace("policygen.", "") for layer in layers]


def test_the_picture_of_the_architecture_is_current(update):
    """`--update`, or `python -m tests.architecture`, draws it again."""
    if update:
        architecture.PICTURE.write_text(architecture.drawn(), "utf-8")
    assert architecture.PICTURE.read_text("utf-8") == architecture.drawn()


def test_every_package_of_the_picture_has_its_paragraph():
    text = (ROOT / "docs" / "design.md").read_text("utf-8")
    told = re.findall(r"^- \*\*(\w+)\*\* ", text.partition("## The packages")[2], re.MULTILINE)
    assert sorted(told) == sorted(room for row in architecture.layers() for room in row)


def test_packages_of_one_layer_do_not_import_each_other_in_a_circle():
    pairs = set(architecture.imports())
    assert [(upper, lower) for upper, lower in pairs if (lower, upper) in pairs] == []


def test_changelog_begins_with_this_version():
    versions = re.findall(
        r"^## \[(\d+\.\d+\.\d+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert versions[0] == policygen.__version__


def help_text():
    from click.testing import CliRunner  # noqa: PLC0415 - only here

    from policygen.cli.main import cli  # noqa: PLC0415 - as above

    parts = []
    for name in ("render", "validate", "lint", "test", "rules"):
        done = CliRunner().invoke(
            cli, [name, "--help"], prog_name="policygen", terminal_width=98, max_content_width=98
        )
        assert done.exit_code == 0
        parts.append(done.output.rstrip())
    return "\n\n".join(parts)


def test_help_in_readme_is_current(update):
    path = ROOT / "README.md"
    readme = path.read_text("utf-8")
    block = f"<!-- help -->\n```\n{help_text()}\n```\n<!-- /help -->"
    current = re.sub(r"<!-- help -->.*<!-- /help -->", lambda _: block, readme, flags=re.DOTALL)
    if update:
        path.write_text(current, "utf-8")
        readme = current
    assert readme == current


def test_the_table_of_formats_is_current(update):
    path = ROOT / "docs" / "lint.md"
    rows = "".join(f"| `{name}` | {what} |\n" for name, what in FORMATS.items())
    block = f"<!-- formats -->\n| format | output |\n|---|---|\n{rows}<!-- /formats -->"
    text = path.read_text("utf-8")
    current = re.sub(r"<!-- formats -->.*<!-- /formats -->", block, text, flags=re.DOTALL)
    if update:
        path.write_text(current, "utf-8")
        text = current
    assert text == current


def test_the_formats_of_test_are_those_that_are_shown():
    assert set(TEST_FORMATS) == set(FORMS)


def test_links_in_docs_lead_somewhere():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_readmes_spec_renders(tmp_path):
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "spec.yaml").write_text(blocks[0], "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "policygen", "render", tmp_path],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.startswith(b"---\napiVersion: ")
