"""What a job that Kueue never admits does to the jobs behind it."""

import pytest

from policygen.lint import engine
from policygen.lint.kueue.rules import (
    request_not_covered,
    workload_exceeds_quota,
    workload_fits_no_flavor,
    workload_never_starts,
)
from tests.examples_of_rules import examples
from tests.objects import facts

STRICT = "  queueingStrategy: StrictFIFO\n  resourceGroups:"
EXAMPLES = [
    (workload_exceeds_quota.RULE, 0),
    (workload_fits_no_flavor.RULE, 0),
    (request_not_covered.RULE, 0),
    (workload_never_starts.RULE, 1),
]


@pytest.mark.parametrize(("rule", "number"), EXAMPLES)
def test_a_finding_says_that_the_job_blocks_its_queue(rule, number):
    text = examples(rule.name, good=False)[number].text
    for written in (text, text.replace("  resourceGroups:", STRICT)):
        (outcome,) = engine.run([rule], facts(written))
        for hit in outcome.hits:
            assert ("is StrictFIFO, Kueue never admits the jobs behind it" in hit.message) is (
                written != text
            )
        assert outcome.hits
