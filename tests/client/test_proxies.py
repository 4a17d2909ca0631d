"""An unusable proxy is reported without its password."""

import pytest
from kubernetes import client

from policygen.client import proxies


@pytest.mark.parametrize(
    "url",
    [
        "socks5://user:hidden@proxy:99999",
        "http://user:hid/den@proxy:3128",
        "http://user:hid#den@proxy:3128",
        "http://user:hid?den@proxy:3128",
        "http://user:hidden@[::1:3128",
        "http://user:hidden@:3128",
        "ftp://user:hid/den@proxy",
        "user:hid://den@proxy",
    ],
)
@pytest.mark.parametrize("where", ["kubeconfig", "environment"])
def test_a_faulty_proxy_is_reported_without_its_password(monkeypatch, url, where):
    configuration = client.Configuration()
    configuration.host = "https://cluster.example"
    if where == "environment":
        monkeypatch.setenv("HTTPS_PROXY", url)
    with pytest.raises(ValueError, match="is not a valid proxy URL") as refused:
        proxies.choose(configuration, url if where == "kubeconfig" else "")
    assert "hid" not in str(refused.value)
    assert "den" not in str(refused.value)
