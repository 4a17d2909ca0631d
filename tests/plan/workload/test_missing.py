"""Models whose workload is not rendered, or has no image, are reported with the remedy."""

from tests.plan.model_specs import a100, messages, models, quotas

WORKLOADS = frozenset({"workloads"})


def test_a_model_without_image(planned):
    texts = a100(), quotas("a", "pool: p"), models("a", m="resources: {gpus: 1}")
    (message,) = messages(planned(*texts, extras=WORKLOADS), "image-missing")
    assert message.endswith("write spec.container.image")
    assert not messages(planned(*texts), "image-missing")
    with_image = texts[2].replace("gpus: 1}", "gpus: 1}, container: {image: a}")
    assert not messages(planned(*texts[:2], with_image, extras=WORKLOADS), "image-missing")


def test_a_model_of_an_article(planned):
    article = """
    apiVersion: inference.example.com/v1
    kind: ModelServingSpec
    metadata: {name: m}
    spec: {modelFamily: llama, modelSize: 7b, resources: {gpuMemory: 13Gi}}
    """
    done = planned(a100(), article, extras=WORKLOADS)
    (message,) = messages(done, "workload-not-rendered")
    assert message.endswith("write its team")
    assert not done.of("Deployment")


def test_rendered_workloads_need_no_note_about_fields_of_pods(planned):
    texts = a100(), quotas("a", "pool: p"), models("a", m="resources: {gpus: 1}")
    assert messages(planned(*texts), "pods-must-carry")
    assert not messages(planned(*texts, extras=WORKLOADS), "pods-must-carry")
