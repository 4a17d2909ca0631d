"""A metric that a limit of the server keeps below what adds a replica."""

import pytest

from tests.plan.model_specs import a100, messages, models, quotas

VLLM = "vllm:num_requests_running"


def found(planned, target, container, metric=VLLM):
    scaling = f'minReplicas: 1, maxReplicas: 4, targetConcurrency: {target}, metric: "{metric}"'
    text = f"resources: {{gpus: 1}}, autoscaling: {{{scaling}}}, container: {container}"
    texts = a100(), quotas("a", "pool: p, guarantee: 8"), models("a", m=text)
    return messages(planned(*texts, extras=frozenset({"workloads"})), "autoscaler-metric-capped")


@pytest.mark.parametrize(
    "target, container, remedy",
    [
        (16, "{args: [--max-num-seqs=16]}", "14 or less, or raise --max-num-seqs"),
        (16, "{command: [vllm, serve], args: [--max-num-seqs, '8']}", "7 or less"),
        (10, "{args: [--max-num-seqs=11]}", "9 or less"),
        (16, "{args: [--max-num-seqs=64, --max-num-seqs=16]}", "14 or less"),
        (2, "{args: [--max-num-seqs=1]}", "adds no replica; raise --max-num-seqs"),
    ],
)
def test_a_limit_at_the_target(planned, target, container, remedy):
    (message,) = found(planned, target, container)
    assert remedy in message


@pytest.mark.parametrize(
    "target, container, metric",
    [
        (14, "{args: [--max-num-seqs=16]}", VLLM),
        (10, "{args: [--max-num-seqs=12]}", VLLM),
        (16, "{args: [--max-num-seqs=auto]}", VLLM),
        (16, "{args: [--max-num-seqs-of-other=16]}", VLLM),
        (16, "{args: [--max-num-seqs=16]}", "requests_in_flight"),
        (16, "{args: [--model=a]}", VLLM),
    ],
)
def test_a_limit_that_a_metric_can_exceed(planned, target, container, metric):
    assert not found(planned, target, container, metric)


@pytest.mark.parametrize("metric", ["sglang:num_running_reqs", "sglang_num_running_reqs"])
def test_other_servers_and_other_notations(planned, metric):
    assert found(planned, 16, "{args: [--max-running-requests=16]}", metric)
