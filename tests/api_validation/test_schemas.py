"""The schemas that real servers serve."""

import msgspec
import pytest

from policygen.api_validation import workload_code
from policygen.api_validation.refusals import refusals
from policygen.api_validation.schemas import folder, index, served
from tests.api_validation.objects import KUEUE, QUEUE


def test_unserved_kinds_and_versions_have_no_schema():
    assert served("kueue.x-k8s.io/v1alpha1", "Topology") is None
    assert served(KUEUE, "Queue") is None
    assert served("../../spec", "x") is None
    stranger = msgspec.structs.replace(served(KUEUE, "Cohort"), version="v9")
    with pytest.raises(LookupError):
        list(refusals(QUEUE, stranger))


def test_index_lists_the_files():
    there = {
        path.relative_to(folder()).with_suffix("").as_posix()
        for path in folder().rglob("*.json")
        if path.name not in {workload_code.FILE, "index.json", "ObjectMeta.json"}
    }
    assert there == {f"{at}/{kind}" for at, kinds in index().kinds.items() for kind in kinds}
