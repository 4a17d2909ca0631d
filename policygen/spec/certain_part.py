"""The part of a refused spec that can still be checked, so that one error does not hide others."""

from msgspec.structs import replace

from policygen.spec.types import Spec, Team
from policygen.spec.unread import Unread


def part(spec: Spec, faulty: frozenset[int], unread: Unread) -> Spec:
    """The part of a refused spec that can be checked: omitted parts can hide errors, but not cause them."""
    sums = [pool for pool in spec.pools if pool.at.document not in faulty]
    if unread.settings:
        # The default scheduler is not known; checks of Kueue's pools are right for every scheduler.
        sums = [replace(pool, scheduler="kueue", quota_cpu_and_memory=False) for pool in sums]
    teams: list[Team] = []
    owner: dict[str, Team] = {}
    for team in spec.teams:
        # Queues of the articles share each pool by weight, so the share of one depends on all of them.
        if team.at.document in faulty and not any(it.shared for it in team.namespaces):
            continue
        own = [it for it in team.namespaces if owner.setdefault(it.name, team) is team or it.shared]
        teams.append(replace(team, namespaces=tuple(own)))
    platform = replace(spec.platform, priorities=())
    if spec.platform.at is not None and spec.platform.at.document in faulty:
        platform = replace(platform, shared_queues=())
    return Spec(platform=platform, pools=tuple(sums), teams=tuple(teams))
