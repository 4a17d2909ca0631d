"""policygen's schema validator reports the same errors of broken objects as an API server.

The server has the CRDs and no webhook, so that only the schema decides.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.api_validation.refusals import refusals
from policygen.api_validation.schemas import index, served
from policygen.plan.catalog import KINDS
from tests.servers.bench import Bench, Options
from tests.servers.client import MERGE
from tests.servers.mutations import changes
from tests.servers.samples import samples
from tests.servers.upstream import KUBERNETES

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THREADS, TRIES = 4, 5
RENDERED = {(release.api_version, kind.name) for kind in KINDS for release in kind.releases}
MOST_RENDERED, MOST_OTHERS = 900, 200
"""Changes of one kind; more are a seeded choice."""
SAMPLES = {f"{thing['apiVersion']} {thing['kind']}": thing for thing in samples()}

BYTES = (("ConfigMap", "binaryData"),)
"""Go accepts a list of numbers as bytes; policygen requires base64."""
OF_WEBHOOK = "is not a duration"
"""Volcano's webhook refuses these values, and this bench has no webhooks."""
OF_OTHER_PROJECTS = {
    ("monitoring.coreos.com/v1", "PrometheusRule"),
    ("autoscaling.k8s.io/v1", "VerticalPodAutoscaler"),
    ("keda.sh/v1alpha1", "ScaledObject"),
}
WIDE = "does not fit in int32"
"""A CRD's int32 is checked from Kubernetes 1.36 on; before, only the controller can't read it."""
CEL_READS_INT = "expected int, got float64"
SCALE_READS_INT = "is of the type float64, expected int64"
"""A CRD takes 3.0 for 3, except where a CEL rule or the scale subresource reads the field; we always take it."""
SCALE_BELOW_ZERO = "should be a non-negative integer"
"""Of the scale subresource. A rule of lint reports it for LeaderWorkerSets."""
BEYOND = (CEL_READS_INT, SCALE_READS_INT, SCALE_BELOW_ZERO)


class Judge:
    """An API server that knows the kinds and nothing else."""

    def __init__(self, bench):
        self.client = bench.client
        # Schemas have spoken by the time that an object is converted, which needs Kueue.
        for crd in self.client.get(CRDS).body["items"]:
            patch = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
            path = f"{CRDS}/{crd['metadata']['name']}"
            assert self.client.request("PATCH", path, patch, content_type=MERGE).ok
        self.whole = bench.built["kubernetes"].upstream.version == KUBERNETES.version

    def ask(self, thing):
        resource = self.client.resource(thing["apiVersion"], thing["kind"])
        path = resource.path("default" if resource.namespaced else None)
        query = {"dryRun": "All", "fieldValidation": "Strict"}
        return self.client.request("POST", path, thing, query=query)

    def disagreement(self, thing):
        """Where the server and we differ in a way that we don't know of; None for agreement.

        A list that several changes made long can exceed the size of a request. policygen does not
        check that size.
        """
        kind = served(thing["apiVersion"], thing["kind"])
        ours = list(refusals(thing, kind))
        answer = self.ask(thing)
        if answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return None
        if ours and answer.ok:
            if any((kind.kind, refusal.path[0]) in BYTES for refusal in ours):
                return None
            if all(OF_WEBHOOK in refusal.message for refusal in ours):
                return None
            if kind.custom and not self.whole and all(WIDE in refusal.message for refusal in ours):
                return None
            return f"the server accepts, we say {ours[0]}"
        if not ours and not answer.ok:
            beyond = answer.status == 422 and (
                not kind.custom or any(it in answer.message for it in BEYOND)
            )
            if beyond or not self.whole:  # an older Kubernetes knows fewer fields
                return None
            return f"we accept, the server says {answer.status} {answer.message}"
        return None


@pytest.fixture(scope="module")
def judge(built, tools):
    with Bench({**tools, **built}, Options(parts=frozenset(), operator_crds=True)) as bench:
        yield Judge(bench)


def test_there_is_a_sample_of_every_kind():
    every = {
        f"{api_version.removeprefix('core/')} {kind}"
        for api_version, kinds in index().kinds.items()
        for kind in kinds
    }
    assert set(SAMPLES) == every


def test_every_rendered_kind_has_a_schema_but_a_few():
    without = {each for each in RENDERED if served(*each) is None}
    assert without == {
        ("kueue.x-k8s.io/v1alpha1", "Topology"),
        *OF_OTHER_PROJECTS,
    }


def test_samples_are_accepted(judge):
    for name, thing in SAMPLES.items():
        answer = judge.ask(thing)
        assert answer.ok, f"{name}: {answer.message}"
        assert not list(refusals(thing, served(thing["apiVersion"], thing["kind"]))), name


@pytest.mark.parametrize("name", SAMPLES)
def test_one_change(judge, name):
    thing = SAMPLES[name]
    every = changes(thing)
    most = MOST_RENDERED if (thing["apiVersion"], thing["kind"]) in RENDERED else MOST_OTHERS
    if len(every) > most:
        every = random.Random(name).sample(every, most)
    with ThreadPoolExecutor(THREADS) as pool:
        said = list(pool.map(judge.disagreement, (change.of(thing) for change in every)))
    wrong = [f"{change}: {what}" for change, what in zip(every, said, strict=True) if what]
    assert not wrong, f"{len(wrong)} of {len(every)}:\n" + "\n".join(wrong[:5])


@settings(max_examples=300)
@given(st.data())
def test_changes_together(judge, data):
    thing = SAMPLES[data.draw(st.sampled_from(sorted(SAMPLES)), label="kind")]
    for _ in range(data.draw(st.integers(2, 3), label="changes")):
        every = changes(thing)
        thing = every[data.draw(st.integers(0, len(every) - 1))].of(thing)
    assert judge.disagreement(thing) is None


WITH_WEBHOOKS = (
    "kueue.x-k8s.io/v1beta1 ClusterQueue",
    "kueue.x-k8s.io/v1beta2 ClusterQueue",
    "kueue.x-k8s.io/v1beta2 Cohort",
    "kueue.x-k8s.io/v1beta2 LocalQueue",
    "kueue.x-k8s.io/v1beta2 ResourceFlavor",
    "scheduling.volcano.sh/v1beta1 Queue",
)


@pytest.mark.parametrize("name", WITH_WEBHOOKS)
def test_what_a_webhook_repairs_on_create_is_refused_on_update(cluster, name):
    """With every webhook on, no object that we refuse can be applied and applied again.

    Kueue's and Volcano's mutating webhooks see an object before its schema does, and fill in
    what is missing or of another type; on update they don't.
    """
    thing, client = SAMPLES[name], cluster.client
    if thing["kind"] == "Queue":  # Volcano has no other queue, and no node group
        kept = ("deserved", "capability", "weight", "reclaimable")
        thing = {**thing, "spec": {key: thing["spec"][key] for key in kept}}
    resource = client.resource(thing["apiVersion"], thing["kind"])
    namespace = "default" if resource.namespaced else None
    cluster.create({**thing, "metadata": {"name": "mine", "namespace": namespace}})
    kind = served(thing["apiVersion"], thing["kind"])
    query = {"dryRun": "All", "fieldValidation": "Strict"}

    def update(spoiled):
        path = resource.path(namespace, "mine")
        for _ in range(TRIES):
            version = client.get(path).body["metadata"]["resourceVersion"]
            metadata = {"name": "mine", "resourceVersion": version}
            answer = client.request("PUT", path, {**spoiled, "metadata": metadata}, query=query)
            if answer.status != HTTPStatus.CONFLICT:  # a controller wrote in between
                break
        return answer.ok

    def accepted(change):
        spoiled = change.of(thing)
        if change.path[0] == "metadata" or not list(refusals(spoiled, kind)):
            return None
        fresh = {**spoiled, "metadata": {"name": "fresh"}}
        if not client.request("POST", resource.path(namespace), fresh, query=query).ok:
            return False
        return update(spoiled)

    assert update(thing)
    every = random.Random(name).sample(found := changes(thing), min(len(found), MOST_OTHERS))
    with ThreadPoolExecutor(THREADS) as pool:
        said = list(pool.map(accepted, every))
    assert said.count(False) > len(every) // 4
    assert True not in said, next(str(c) for c, ok in zip(every, said, strict=True) if ok)
