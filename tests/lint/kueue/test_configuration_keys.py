"""The keys of Kueue's Configuration."""

from policygen.lint.kueue.configuration_keys import of, parents


def test_a_key_has_its_first_release():
    keys = of("v1beta2")
    assert keys["waitForPodsReady.timeout"] is None
    assert any(since is not None and since >= (0, 14) for since in keys.values())
    assert "waitForPodsReady.enable" not in keys
    assert "waitForPodsReady.enable" in of("v1beta1")


def test_lists_are_complete_below_known_parents():
    assert {"", "waitForPodsReady", "integrations"} <= parents("v1beta2")
    assert "waitForPodsReady.timeout" not in parents("v1beta2")


def test_an_unknown_version_has_no_keys():
    assert of("v1") == {}
    assert parents("v1") == frozenset()
