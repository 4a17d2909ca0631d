"""The selection of rules to run."""

import pytest

from policygen.core.errors import UsageError
from tests.lint.linting import RULE, queues


def test_rule_and_skip_choose_what_runs(lint):
    assert [it.rule for it in lint(queues("a"), only=(RULE,)).rules] == [RULE]
    assert RULE not in {it.rule for it in lint(queues("a"), skip=(RULE,)).rules}
    with pytest.raises(UsageError, match=f'did you mean "{RULE}"'):
        lint(queues("a"), only=(RULE[:-1],))
