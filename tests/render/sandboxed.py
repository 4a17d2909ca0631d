"""An item to render with the templates of users."""

import pytest

from policygen.core.errors import UsageError
from policygen.plan import kueue
from policygen.plan.catalog import BY_NAME
from policygen.plan.kind import Item, Meta
from policygen.render.engine import render

PATH = "kueue/resource_flavor.yaml.j2"

HEAD = """\
apiVersion: {{ kind.api_version }}
kind: {{ kind.name }}
metadata:
  name: {{ it.meta.name }}
  labels:
    app.kubernetes.io/managed-by: policygen
    policygen.dev/set: {{ it.meta.set }}
"""


def flavor(name="h100"):
    kind = BY_NAME["ResourceFlavor"]
    it = kueue.ResourceFlavor(Meta(name, "prod"), {"gpu": "h100"}, (), (), None)
    return Item(kind, kind.releases[-1], it)


def local_queue():
    kind = BY_NAME["LocalQueue"]
    return Item(kind, kind.releases[-1], kueue.LocalQueue(Meta("q", "prod", "ns"), "cq"))


def refused(folder, *items):
    with pytest.raises(UsageError) as error:
        render(items or [flavor()], templates=[folder])
    assert "\n" not in str(error.value)
    return str(error.value)
