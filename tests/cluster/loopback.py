"""The way to a server that a test runs on loopback."""

import json

from policygen.cluster.access import Access

CONTEXT = "east"


def way(server, folder):
    """With a kubeconfig in the folder. Clear its pool at the end."""
    url = f"http://127.0.0.1:{server.server_address[1]}"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": "c", "user": "u"}}],
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(config), "utf-8")
    return Access(CONTEXT, file)
