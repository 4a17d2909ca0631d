"""Blocks of users' templates that replace nothing are refused."""

import pytest

from policygen.render.engine import render
from tests.render.sandboxed import PATH, flavor, refused


@pytest.mark.parametrize(
    "text, line",
    [
        ('{% extends "builtin/' + PATH + '" %}\n{% block spek %}x{% endblock %}\n', 2),
        ('{% extends "_ours.j2" %}\n{% if it %}\n{% block spek %}{% endblock %}{% endif %}\n', 3),
    ],
)
def test_a_block_that_replaces_no_block_is_refused(own, folder, text, line):
    own('{% extends "builtin/' + PATH + '" %}\n', "_ours.j2")
    path = own(text)
    assert refused(folder) == (
        f'{path}:{line}: ResourceFlavor "h100": block "spek" does not exist in the extended template, so '
        'the block is not printed; did you mean "spec"?'
    )


def test_a_block_inside_another_one_is_new_and_may_be_replaced(own, folder):
    own(
        '{% extends "builtin/' + PATH + '" %}\n'
        "{% block spec %}{{ super() }}{% block more %}{% endblock %}{% endblock %}\n",
        "_ours.j2",
    )
    own('{% extends "_ours.j2" %}\n{% block more %}  topologyName: racks\n{% endblock %}\n')
    (first,) = render([flavor()], templates=[folder])
    assert first.text == render([flavor()])[0].text + "  topologyName: racks\n"
