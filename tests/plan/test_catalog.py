"""Each kind of object is in the catalog, has a generator, and is in an example."""

from pathlib import Path

import pytest
import yaml

from policygen.api_validation.schemas import served
from policygen.plan.catalog import KINDS
from policygen.plan.compile import FAMILIES

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = [
    document
    for path in (
        *EXAMPLES.glob("*/expected/manifests.yaml"),
        *EXAMPLES.glob("*/monitoring/rules.yaml"),
    )
    for document in yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
]
BY_RENDER = {(it, "kubernetes", "ConfigMap") for it in ("", "device-plugin", "mig-manager")}
"""They contain rendered files, so `app/render.py` makes them."""
BY_OPTION = {"JobSet", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}
"""`policygen workload --as jobset` and `spec.admission.defaults` render them.

The servers' tests try the doors of the examples with objects that lack a field, so no example adds it.
"""

WITHOUT_CRD = {"ScaledObject", "VerticalPodAutoscaler"}
"""`spec.keda` and `--with vpa` render them. Servers of the tests have their CRDs only in test_autoscaling.py."""


def test_a_generator_and_the_catalog_have_the_same_kinds():
    listed = {(*kind.family, kind.name) for kind in KINDS}
    made = {(*family, name) for family, generators in FAMILIES.items() for name in generators}
    unlisted = made - listed
    assert not unlisted, f"write a Kind for {unlisted} in KINDS of policygen/plan/catalog.py"
    missing = listed - made - BY_RENDER
    assert not missing, f"write a generator for {missing} in OBJECTS of policygen/plan/<family>.py"


def test_a_kind_is_in_a_family_only_once():
    names = [(*kind.family, kind.name) for kind in KINDS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "kind", KINDS, ids=lambda kind: "-".join(filter(None, (kind.extra, kind.component, kind.name)))
)
def test_an_example_shows_a_kind(kind):
    message = (
        f"no example renders a {kind.name}: correct its generator, or extend a spec in examples/, and "
        "run pytest tests/render/test_examples.py --update"
    )
    if kind.extra:
        message += f"; OPTIONS there needs --with {kind.extra}"
    if kind.name in BY_OPTION | WITHOUT_CRD:
        return
    shown = {(it["apiVersion"], it["kind"]) for it in SHOWN}
    assert any((it, kind.name) in shown for it in kind.api_versions), message


@pytest.mark.parametrize(
    "kind", KINDS, ids=lambda kind: "-".join(filter(None, (kind.extra, kind.component, kind.name)))
)
def test_a_kind_has_schemas_or_a_plural(kind):
    without = [it.api_version for it in kind.releases if not served(it.api_version, kind.name)]
    if not without:
        assert not kind.plural, f"remove plural from {kind.name}: schemas/cluster has it"
        return
    record = (
        f"schemas/cluster has no schema of {kind.name} in {', '.join(without)}: record it as "
        'described in CONTRIBUTING.md, "Use a new version of a server"'
    )
    assert kind.plural, (
        f"{record}, or write plural=... in its Kind, with the name that `kubectl api-resources` prints"
    )
    if len(without) == len(kind.releases):
        objects = [
            document
            for document in SHOWN
            if document["kind"] == kind.name and document["apiVersion"] in kind.api_versions
        ]
        assert all("namespace" in document["metadata"] for document in objects), (
            f"{record}; without it, `policygen rbac` assumes that the kind has a namespace"
        )
