"""Comparing an object of a cluster never raises, whatever values it contains."""

import copy
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.core.finding import At
from policygen.documents.parse import mapping
from policygen.drift.compare import differences
from policygen.drift.field_managers import authors, first
from policygen.drift.immutable import refusal
from policygen.drift.messages import message
from policygen.drift.patch_forms import at, operations
from policygen.kubernetes.object import Object
from tests.drift.test_compare import RENDERED, places

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "f:spec", ".", "k:{", 'k:{"name":"a"}', "v:1", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_junk_in_a_field_is_a_difference(data):
    wanted = data.draw(st.sampled_from(RENDERED))
    thing = copy.deepcopy(wanted)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(
            st.sampled_from([it for it in places(thing) if it[0] not in {"apiVersion", "kind"}])
        )
        holder = thing
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = data.draw(JUNK)
    if isinstance(thing.get("metadata"), dict):
        thing["metadata"]["managedFields"] = data.draw(
            JUNK
            | st.lists(
                st.fixed_dictionaries(
                    {"manager": JUNK, "time": JUNK, "fieldsV1": JUNK, "apiVersion": JUNK}
                ),
                max_size=2,
            )
        )
    found = Object.read(thing, At(0))
    told = list(differences(wanted, thing, mapping))
    for it in told:
        message(it, found, at(wanted, it.source))
        refusal(thing, it)
        authors(thing, it.path)
        authors(thing, it.path, gone=True)
    first(thing)
    json.dumps(operations(wanted, thing, told))
    list(differences(thing, wanted, mapping))
