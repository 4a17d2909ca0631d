"""The replay server of the benchmarks sends every pod once, in the bytes of the real server."""

import sys
from pathlib import Path

import msgspec
import pytest

from policygen.client import pages
from policygen.client.discovery import Resource
from policygen.client.requests import JSON, Answer
from tests.loopback import Loopback

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import replay
import urllib3

PAGES, PODS, FACTOR = 3, 4, 5
PODS_LISTED = Resource("", "v1", "Pod", "pods", namespaced=True)


def body(page):
    """A page of a list as API servers write it, without a continue token of the replay."""
    items = [
        {
            "metadata": {"name": f"pod-00-{page}{i}", "namespace": "a", "uid": f"ff{page}{i}"},
            "spec": {"nodeName": "n"},
        }
        for i in range(PODS)
    ]
    metadata = {"resourceVersion": "7", "continue": "theirs"}
    made = {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items}
    return msgspec.json.encode(made)


@pytest.fixture
def get():
    limit = {"limit": str(pages.LIMIT)}
    answer = replay.Answer(
        replay.PODS, limit, JSON, "Pod", [body(page) for page in range(PAGES)], [0.0] * PAGES
    )
    server = replay.Replay([answer], FACTOR, pace=True)
    pool = urllib3.PoolManager()

    def get(path, query, **_begun):
        answer = pool.request("GET", server.url + path, fields=query, headers={"accept": JSON})
        assert answer.status == 200
        return Answer(answer.data, packed=False)

    with Loopback(server).running():
        yield get
    pool.clear()


def test_each_copy_of_a_pod_has_its_own_name_and_uid(get):
    found = pages.items(get, pages.ListRequest(PODS_LISTED), dict, dict)
    names = {each["metadata"]["name"] for each in found}
    uids = {each["metadata"]["uid"] for each in found}
    assert len(found) == len(names) == len(uids) == PAGES * PODS * FACTOR
    assert {each["spec"]["nodeName"] for each in found} == {"n"}
