"""Which jobs have one answer."""

from policygen.simulate.why.equal_jobs import equal_jobs
from tests.simulate.why.waiting import explainer, flavor, job, local, node, queue, thing


def test_jobs_that_ask_differently_for_a_topology_are_not_equal():
    """More quota lets only c start, because no rack has room for both pods."""
    racks = thing("Topology", "t", {"levels": [{"nodeLabel": "rack"}]})
    things = [racks, flavor(topologyName="t", nodeLabels={"gpu": "x"}), queue("q", 4), local()]
    for name in "xy":
        things.append(node(name, 4))
        things[-1]["metadata"]["labels"] = {"rack": name, "gpu": "x"}
    for name, key in (("a", "required"), ("b", "required"), ("c", "preferred")):
        things.append(job(name, gpus=4, pods=2))
        annotations = {f"kueue.x-k8s.io/podset-{key}-topology": "rack"}
        things[-1]["spec"]["template"]["metadata"] = {"annotations": annotations}
    made = explainer(*things)
    groups = equal_jobs((it, made.explain(it, search=False)) for it in made.pending())
    assert [[it.name for it, _ in group] for group in groups] == [["n/a", "n/b"], ["n/c"]]
