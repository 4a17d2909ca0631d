"""docs/support.md has a row for each supported release, and each row is true."""

import re
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from policygen.core import versions
from policygen.core.errors import UsageError
from tests.servers.rendering import rendered
from tests.servers.upstream import EVERY_KUBERNETES, KUEUE, VOLCANO
from tests.strategies import specs

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| (\w+) \| ([\d.]+) \| (\w+) \| (.+) \|$", re.MULTILINE)
ROWS = {
    (component.lower(), release): (status, detail)
    for component, release, status, detail in ROW.findall(
        (ROOT / "docs" / "support.md").read_text(encoding="utf-8")
    )
}
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if (path / "expected").is_dir())


def test_each_supported_release_has_a_row():
    assert list(ROWS) == [
        (component, f"{major}.{minor}")
        for component, ((major, first), (_, last)) in versions.SUPPORTED.items()
        for minor in range(first, last + 1)
    ]


def test_what_is_called_tested_is_what_is_built():
    tested = {
        (component, release): detail.split(",")[0]
        for (component, release), (status, detail) in ROWS.items()
        if status == "tested"
    }
    assert tested == {
        (upstream.name, upstream.minor): upstream.version.removeprefix("v")
        for upstream in (*EVERY_KUBERNETES, KUEUE, VOLCANO)
    }


def same_as() -> list[tuple[str, str, str]]:
    """Component, release, and the other release for which policygen renders the same objects."""
    return [
        (component, release, found.group(1))
        for (component, release), (_, detail) in ROWS.items()
        if (found := re.search(r"renders the same (?:objects|bytes) as for ([\d.]+)", detail))
    ]


def test_every_untested_release_renders_what_is_tested():
    untested = {key for key, (status, _) in ROWS.items() if status == "untested"}
    assert {(component, release) for component, release, _ in same_as()} == untested
    for component, _, other in same_as():
        assert ROWS[component, other][0] == "tested"


def made(spec, **target: str) -> tuple[str, str]:
    """The rendered objects, and the scheduler configuration if there is one."""
    out = rendered(spec, **target)
    try:
        return out.text, out.scheduler_config
    except UsageError:
        return out.text, ""


def of_0_13(text: str) -> str:
    """The manifests of 0.14, with the one word that differs in 0.13."""
    return text.replace(
        "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Topology",
        "apiVersion: kueue.x-k8s.io/v1alpha1\nkind: Topology",
    )


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_releases_documented_as_equal_get_equal_manifests(folder):
    files = sorted(folder.glob("*.yaml"))
    text = "\n---\n".join(path.read_text(encoding="utf-8") for path in files)
    for component, release, other in same_as():
        assert made(text, **{component: release}) == made(text, **{component: other})
    assert rendered(text, kueue="0.13").text == of_0_13(rendered(text, kueue="0.14").text)


@hypothesis.settings(max_examples=30)
@hypothesis.given(specs(), st.sampled_from(same_as()))
def test_releases_documented_as_equal_get_equal_manifests_for_any_spec(documents, case):
    component, release, other = case
    assert made(documents, **{component: release}) == made(documents, **{component: other})
    assert rendered(documents, kueue="0.13").text == of_0_13(rendered(documents, kueue="0.14").text)
