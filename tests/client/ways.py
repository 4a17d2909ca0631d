"""Connections to a server that a test runs on loopback."""

from contextlib import contextmanager

from policygen.client.access import Access
from tests import kubeconfigs, loopback

CONTEXT = "east"


@contextmanager
def to(respond, folder):
    """A connection to a server that answers with `respond`, and a kubeconfig in the folder."""
    with loopback.Loopback(loopback.http(respond)).running() as server:
        way = Access(
            CONTEXT, kubeconfigs.write(folder / "kubeconfig", server.url, {"token": "t"}, CONTEXT)
        )
        yield way
        way.pool.clear()
