"""The names of the pod sets of a group of Pods."""

import hashlib

import pytest
import yaml

from policygen.kubernetes.kueue_requests import as_pod
from policygen.simulate.kueue.roles import role
from tests.objects import workload

REST = (
    '"initContainers":null,"nodeSelector":null,"overhead":null,"priority":7,"resourceClaims":null,'
    '"runtimeClassName":null,"tolerations":[TOLERATIONS],"topologySpreadConstraints":null}}'
)
ADDED = ",".join(
    f'{{"key":"node.kubernetes.io/{it}","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}'
    for it in ("not-ready", "unreachable")
)


def named(spec):
    it = workload(f"{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {spec}}}")
    return role(yaml.safe_load(spec), as_pod(it.templates[0].spec), 7)


def hashed(containers, tolerations=ADDED):
    """The first 8 digits of the hash of this JSON; tests/servers/test_kueue_jobs.py compares with Kueue."""
    text = f'{{"spec":{{"affinity":null,"containers":[{containers}],{REST}'
    return hashlib.sha256(text.replace("TOLERATIONS", tolerations).encode()).hexdigest()[:8]


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("{containers: [{}]}", hashed('{"ports":null,"resources":{"requests":null}}')),
        (
            "{containers: [{resources: {limits: {memory: 1500M, cpu: 0.5}}}]}",
            hashed('{"ports":null,"resources":{"requests":{"cpu":"500m","memory":"1500M"}}}'),
        ),
        (
            "{containers: [{ports: [{containerPort: 80, name: a}]}]}",
            hashed(
                '{"ports":[{"name":"a","containerPort":80,"protocol":"TCP"}],"resources":{"requests":null}}'
            ),
        ),
        (
            "{containers: [{}], tolerations: [{operator: Exists, key: gpu}]}",
            hashed(
                '{"ports":null,"resources":{"requests":null}}',
                f'{{"key":"gpu","operator":"Exists"}},{ADDED}',
            ),
        ),
        (
            "{containers: [{}], tolerations: [{operator: Exists}]}",
            hashed('{"ports":null,"resources":{"requests":null}}', '{"operator":"Exists"}'),
        ),
    ],
)
def test_the_name_is_a_hash_of_what_decides_about_nodes_and_requests(spec, name):
    assert named(spec) == name


def test_pod_level_resources_are_a_part_of_it():
    assert named("{containers: [{}]}") != named("{containers: [{}], resources: {limits: {cpu: 1}}}")
