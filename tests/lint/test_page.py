"""The page of a rule, parsed into its parts."""

import pytest

from policygen.lint.page import page


def test_a_page_has_its_parts():
    it = page("crd-rule-broken")
    assert (it.bad.good, it.good.good, it.bad.language) == (False, True, "yaml")
    assert it.text.startswith("# ")
    assert it.bad.text in it.text
    assert (it.proof is None) != (it.not_shown is None)


def test_a_name_without_a_page():
    with pytest.raises(KeyError, match="nothing-at-all"):
        page("nothing-at-all")
