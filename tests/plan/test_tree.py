"""Invalid shares of a pool, and shares that no workload could use."""

import pytest


@pytest.mark.parametrize(
    "scheduler, kind", [("kueue", "Cohort"), ("volcano", "Queue"), ("kube-scheduler", None)]
)
def test_share_of_a_team_without_namespaces_or_sharing_children(
    planned, pool, team, scheduler, kind
):
    """No team can use it, and the API refuses a ClusterQueue that admits no namespace."""
    child = team("x", parent="lab").replace("pool: p", "pool: q")
    lab = team("lab", "guarantee: 8", namespaces=False).replace("]", ", {pool: q}]")
    other = pool("q", scheduler="kueue")
    other = other.replace("perNode: 8", "perNode: 8\n    resource: example.com/q")
    done = planned(pool(scheduler=scheduler), other, lab, child)
    assert "share-without-namespaces" in done.rules
    assert "lab.p" not in done.of("ClusterQueue")
    if kind:
        assert "lab.p" in done.of(kind)
    if kind == "Cohort":
        [flavor] = done.of("Cohort")["lab.p"].flavors
        assert [cell.nominal_quota for cell in flavor.resources] == ["96", "768Gi", "8"]
    with_namespaces = lab.replace("spec:\n", "spec:\n  namespaces: [{name: lab}]\n")
    assert (
        "share-without-namespaces"
        not in planned(pool(scheduler=scheduler), other, with_namespaces, child).rules
    )


def test_overcommit_ratio_binds_written_limits_of_cpu_and_memory(planned, pool, team):
    text = pool(gpus=16, more="schedulingPolicy: {overcommitRatio: 1}")  # 192 cores
    teams = [team("a", 'limit: 4, cpu: {limit: "%s"}'), team("b", "limit: 12")]
    assert planned(text, teams[0] % "48", teams[1]).plan is not None  # 48 + 144
    assert planned(text, teams[0] % "49", teams[1]).rules == ["overcommit-exceeded"]


def shared(pool, count, kueue, profiles=1):
    mig = ", ".join(f"{1 + index % 7}g.{index + 1}gb: 8" for index in range(profiles))
    cut = f"perNode: 8\n    sharing: mig\n    mig: {{instances: {{{mig}}}}}"
    texts = [pool(f"p{index}").replace("perNode: 8", cut) for index in range(count)]
    names = ", ".join(f"p{index}" for index in range(count))
    queues = f"[{{name: all, pools: [{names}]}}]" if count > 1 else "[]"
    platform = f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {{name: set}}
    spec: {{target: {{kueue: "{kueue}"}}, sharedQueues: {queues}}}
    """
    return platform, *texts


@pytest.mark.parametrize(
    "pools, profiles, kueue, rule",
    [
        (16, 1, "0.13", None),
        (17, 1, "0.13", "too-many-flavors"),
        (17, 1, "0.14", None),
        (65, 1, "0.19", "too-many-flavors"),
        (1, 14, "0.13", None),
        (1, 15, "0.13", "too-many-resources"),
        (1, 62, "0.19", None),
        (1, 63, "0.19", "too-many-resources"),
        (51, 8, "0.19", None),  # 510 cells
        (52, 8, "0.19", "too-many-flavors"),  # 520
    ],
)
def test_bounds_of_a_resource_group(planned, pool, pools, profiles, kueue, rule):
    done = planned(*shared(pool, pools, kueue, profiles))
    assert ([rule] if rule else []) == [found for found in done.rules if found.startswith("too-")]
    assert (done.plan is None) == (rule is not None)


@pytest.mark.parametrize(
    "scheduler, depth, rules",
    [("volcano", 4, []), ("volcano", 5, ["volcano-tree-too-deep"]), ("kueue", 5, [])],
)
def test_depth_of_a_volcano_tree(planned, pool, team, scheduler, depth, rules):
    """A tree has at most 5 levels of queues, and the first level is the pool's own queue."""
    chain = [team("t0")]
    chain += [team(f"t{level}", parent=f"t{level - 1}") for level in range(1, depth)]
    done = planned(pool(scheduler=scheduler), *chain)
    assert [rule for rule in done.rules if rule == "volcano-tree-too-deep"] == rules
    assert (done.plan is None) == bool(rules)


def test_a_weight_that_yields_no_units_is_reported_at_the_weight(planned, pool, team):
    text = pool(gpus=16, more="schedulingPolicy: {overcommitRatio: 1}")
    done = planned(text, team("a", "weight: 1"), team("b", "weight: 1000"))
    [found] = [it for it in done.findings if it.rule.name == "limit-of-zero"]
    assert 'team "a"' in found.message
    at = found.place
    assert at.text[at.column - 1 : at.column - 1 + at.length] == "1"
    assert "weight: 1}" in at.text
