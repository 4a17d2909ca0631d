"""Messages about values of a wrong type."""

import pytest

from policygen.lint.core.unreadable_fields import described
from tests.objects import cluster


def description(spec, head="apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue"):
    it = cluster(f"{head}\nmetadata: {{name: a}}\nspec: {spec}\n")
    (found,) = it.malformed
    return described(found)


@pytest.mark.parametrize(
    ("spec", "path", "words"),
    [
        ("{stopPolicy: 1}", ("stopPolicy",), "stopPolicy is 1, but must be a string; put it in quotes"),
        ("{stopPolicy: []}", ("stopPolicy",), "stopPolicy is a list, but must be a string; write a string"),
        ("{resourceGroups: {}}", ("resourceGroups",), "resourceGroups is a mapping, but must be a list; write a list"),
        ("{resourceGroups: [a]}", ("resourceGroups", 0), 'an entry of resourceGroups is "a", but must be a mapping'),
        ("{namespaceSelector: {matchLabels: {a: b, c: 1}}}", ("namespaceSelector", "matchLabels", "c"), "c is 1, but must be a string; put it in quotes"),
    ],
)  # fmt: skip
def test_path_type_and_remedy(spec, path, words):
    at, message = description(spec)
    assert at == ("spec", *path)
    assert words in message


def test_a_message_that_is_not_about_types_is_kept():
    spec = (
        "{resourceGroups: [{flavors: [{name: a, resources: [{name: cpu, nominalQuota: 1 Gi}]}]}]}"
    )
    at, message = description(spec)
    assert at[-1] == "nominalQuota"
    assert message == '"1 Gi" has a space in it; write 1Gi'


@pytest.mark.parametrize(
    ("enabled", "path", "words"),
    [
        ("[{name: ImageLocality, weight: '2'}]", (0, "weight"), 'weight is "2", but must be an integer; write an integer'),
        ("[ImageLocality]", (0,), 'an entry of enabled is "ImageLocality", but must be a mapping; write a mapping'),
        ("true", (), "enabled is true, but must be a list; write a list"),
    ],
)  # fmt: skip
def test_a_value_in_a_mapping_of_any_names_is_found(enabled, path, words):
    it = cluster(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"profiles: [{{schedulerName: a, plugins: {{score: {{enabled: {enabled}}}}}}}]\n"
    )
    (found,) = it.malformed
    assert described(found) == (("profiles", 0, "plugins", "score", "enabled", *path), words)


def test_a_value_that_may_be_null_is_described_like_others():
    it = cluster(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "percentageOfNodesToScore: '50'\n"
    )
    (found,) = it.malformed
    message = 'percentageOfNodesToScore is "50", but must be an integer; write an integer'
    assert described(found) == (("percentageOfNodesToScore",), message)
