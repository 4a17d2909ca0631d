"""Hits on objects become findings at the fields in the file."""

from policygen.core.finding import THERE, At, Edit, Hit, Verb
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from policygen.kubernetes.locate import locate_objects
from tests.rules import rule

TEXT = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: a}
spec:
  cohort: all
  queueingStrategy: {{ it }}
  resourceGroups:
  - flavors:
    - {name: h100}
  stopPolicy: 0x10
---
kind: List
apiVersion: v1
items:
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: all}}
"""


def located(*hits, text=TEXT):
    found = manifests.read([Source("a.yaml", text, None)])
    return locate_objects(found.documents, found.objects, hits)


def hit(*path, key=False, document=0, **more):
    return Hit(rule(), "message", At(document, path, key), **more)


def test_a_finding_names_object_field_and_line():
    (it,) = located(hit("spec", "resourceGroups", 0, "flavors", 0, "name"))
    assert (it.object, it.path) == ("ClusterQueue a", "spec.resourceGroups[0].flavors[0].name")
    assert it.anchor == "spec.resourceGroups[0].flavors.h100.name"
    assert (it.place.line, it.place.column) == (9, 14)


def test_a_field_has_the_name_of_the_objects_version():
    at = At(0, ("spec", "cohortName"))
    (it,) = located(Hit(rule(), "message", at, edits=(Edit(Verb.REWRITE, at, "b"),)))
    assert (it.path, it.place.line) == ("spec.cohort", 5)
    assert it.edits[0].at == At(0, ("spec", "cohort"))


def test_a_related_object_has_its_place_in_the_message():
    other = At(1, ("items", 0, "metadata", "name"))
    (it,) = located(Hit(rule(), f"see {THERE}", At(0, ("spec", "cohort")), related=(other,)))
    assert it.message == "see a.yaml:15"
    assert [(each.object, each.place.line) for each in it.related] == [("Cohort all", 15)]
    (it,) = located(Hit(rule(), f"see {THERE}", At(0), related=(At(9),)))
    assert it.message == "see elsewhere"
    (it,) = located(Hit(rule(), f"see {THERE} and {THERE}", At(0), related=(other,)))
    assert it.message == "see a.yaml:15 and elsewhere"


def test_a_number_that_looks_like_another_is_shown_as_it_is_read():
    (it,) = located(hit("spec", "stopPolicy"))
    assert it.message == "message (YAML reads 0x10 as 16)"


def test_replaced_invalid_yaml_is_skipped_and_a_placeholder_is_reported_once():
    assert located(hit("spec", "queueingStrategy")) == []
    text = TEXT.replace("{{ it }}", '"{{ it }}"')
    at = ("spec", "queueingStrategy")
    (it,) = located(hit(*at), Hit(rule(), "another", At(0, at)), text=text)
    assert it.message.startswith("this looks like a template")


def test_a_hit_on_nothing_has_no_place():
    (it,) = located(Hit(rule(), "of all"))
    assert (it.place, it.object, it.path) == (None, "", "")
