"""Renders specs, adopts the rendered objects, and renders what was adopted."""

from policygen.adopt.infer import infer, sets
from policygen.adopt.spec_data import documents
from policygen.adopt.trees import Scope
from policygen.adopt.write import write
from policygen.app import render
from policygen.app.requests import RenderRequest
from policygen.core.rule import Severity
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from policygen.kubernetes.cluster import Cluster
from policygen.plan.compile import compile_plan
from policygen.render import output
from policygen.spec.load import load


def rendered(*sources, extras=frozenset()):
    """What a valid spec renders."""
    loaded = load(sources)
    plan = compile_plan(loaded.sound, extras)
    found = [*loaded.findings, *plan.hits]
    assert [it.message for it in found if it.rule.severity == Severity.ERROR] == []
    return output.text(render.rendered(RenderRequest((), {}), loaded, plan))


def cluster(text):
    """The objects of a text, with the files inside ConfigMaps."""
    return Cluster(manifests.read([Source("manifests.yaml", text, None)]).objects)


def adopted(text, *, rendered=True):
    """What is inferred from objects: of their only set, or written by hand."""
    there = cluster(text)
    names = sets(there) if rendered else ["default"]
    return infer(there, Scope(names[0], rendered))


def written(inferred):
    """The text of an inferred spec."""
    return write(documents(inferred.spec))


def again(text, extras=frozenset()):
    """What the adopted spec of rendered objects renders; the same if nothing was rendered."""
    if not text:
        return text
    return rendered(Source("adopted.yaml", written(adopted(text)), None), extras=extras)
