import pytest

from policygen.core.finding import At, Hit
from policygen.documents.document import Header
from policygen.spec import forms

OWN = forms.OWN


@pytest.mark.parametrize(
    "api_version, kind, name, form",
    [
        (OWN, "Platform", "a", forms.PLATFORM),
        (OWN, "ResourcePool", None, forms.RESOURCE_POOL),
        (OWN, "Team", "a", forms.TEAM),
        (OWN, "Model", "a", forms.MODEL),
        ("gpu.example.com/v1", "ResourcePool", "a", forms.ARTICLE_POOL),
        ("inference.example.com/v1", "ModelServingSpec", "a", forms.ARTICLE_MODEL),
        ("v1", "ConfigMap", "gpu-scheduler-config", forms.ARTICLE_QUEUES),
    ],
)
def test_forms_are_known_by_their_header(api_version, kind, name, form):
    assert forms.ours(Header(api_version, kind, name))
    assert forms.form_of(Header(api_version, kind, name), 0) is form


@pytest.mark.parametrize(
    "api_version, kind, name",
    [
        ("v1", "ConfigMap", "another"),
        ("v1", "ConfigMap", None),
        ("v1", "Namespace", "a"),
        ("v1", None, None),
        ("apps/v1", "Deployment", "gpu-scheduler-config"),
        ("kueue.x-k8s.io/v1beta2", "ClusterQueue", "a"),
        ("example.com/v1", "Team", "a"),
        ("other.policygen.dev.example.org/v1", "Team", "a"),
        ("policygen.io/v1", "Gateway", "a"),
    ],
)
def test_documents_of_others_are_left_alone(api_version, kind, name):
    assert not forms.ours(Header(api_version, kind, name))


@pytest.mark.parametrize(
    "api_version, kind, rule, path, says",
    [
        (
            None,
            None,
            "missing-field",
            (),
            "write apiVersion: policygen.dev/v1alpha1 and kind: Platform, ResourcePool, Team or Model",
        ),
        ("", None, "missing-field", (), '"apiVersion" and "kind" are missing'),
        (
            None,
            "Team",
            "missing-field",
            (),
            '"apiVersion" is missing; write apiVersion: policygen.dev/v1alpha1',
        ),
        (
            None,
            "ModelServingSpec",
            "missing-field",
            (),
            "write apiVersion: inference.example.com/v1",
        ),
        (None, "Quota", "missing-field", (), 'policygen does not know kind "Quota"'),
        (
            OWN,
            None,
            "missing-field",
            ("kind",),
            '"kind" is missing; write kind: Platform, ResourcePool',
        ),
        ("gpu.example.com/v1", None, "missing-field", ("kind",), "write kind: ResourcePool"),
        (
            OWN,
            "Teem",
            "unknown-kind",
            ("kind",),
            'policygen.dev/v1alpha1 has no kind "Teem"; did you mean "Team"?',
        ),
        (OWN, "team", "unknown-kind", ("kind",), 'did you mean "Team"?'),
        (OWN, "Zzzz", "unknown-kind", ("kind",), "known: Model, Platform, ResourcePool, Team"),
        (
            "policygen.dev/v1",
            "Team",
            "unknown-version",
            ("apiVersion",),
            "is not an apiVersion that policygen reads; write policygen.dev/v1alpha1",
        ),
        ("policygen.dev", "Team", "unknown-version", ("apiVersion",), OWN),
        ("Policygen.dev/v1alpha1", "Team", "unknown-version", ("apiVersion",), OWN),
        ("policygn.dev/v1alpha1", "Team", "unknown-version", ("apiVersion",), OWN),
        ("policygen.io/v1alpha1", "Model", "unknown-version", ("apiVersion",), OWN),
        ("policygen/v1alpha1", "Model", "unknown-version", ("apiVersion",), OWN),
        ("v1alpha1", "ResourcePool", "unknown-version", ("apiVersion",), OWN),
        ("1", "ResourcePool", "unknown-version", ("apiVersion",), OWN),
        (
            "gpu.example.com/v2",
            "ResourcePool",
            "unknown-version",
            ("apiVersion",),
            "write gpu.example.com/v1",
        ),
        (
            "gpu.example.com/v1",
            "Team",
            "unknown-version",
            ("apiVersion",),
            '"gpu.example.com/v1" has no kind "Team"; write apiVersion: policygen.dev/v1alpha1',
        ),
        (
            OWN,
            "ModelServingSpec",
            "unknown-version",
            ("apiVersion",),
            "write apiVersion: inference.example.com/v1",
        ),
        (OWN, "ConfigMap", "unknown-version", ("apiVersion",), "write apiVersion: v1"),
        ("policygen.dev/v1\x1b[2J", "Team", "unknown-version", ("apiVersion",), "\\u001b[2J"),
    ],
)
def test_headers_in_our_groups_are_explained(api_version, kind, rule, path, says):
    header = Header(api_version, kind, "a")
    assert forms.ours(header)
    hit = forms.form_of(header, 4)
    assert isinstance(hit, Hit)
    assert (hit.rule.name, hit.at) == (rule, At(4, path))
    assert says in hit.message
    assert hit.message.isprintable()


def test_names_of_schemas():
    assert dict(forms.schema_names()) == {
        "Platform": "platform.schema.json",
        "ResourcePool": "resource-pool.schema.json",
        "Team": "team.schema.json",
        "Model": "model.schema.json",
        "gpu.example.com/ResourcePool": "gpu.example.com-resource-pool.schema.json",
        "ModelServingSpec": "inference.example.com-model-serving-spec.schema.json",
        "gpu-scheduler-config": "gpu-scheduler-config.schema.json",
        "scheduler-config.yaml": "scheduler-config.schema.json",
    }
