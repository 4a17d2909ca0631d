"""Which pools a model's placement allows."""

from collections.abc import Sequence

from policygen.core.finding import Hit
from policygen.hardware import catalog
from policygen.plan.fit import warn
from policygen.plan.pool import PoolFacts
from policygen.plan.rules import MODEL_FITS_NO_POOL, NODE_TYPE_NOT_OFFERED, ONLY_PREEMPTIBLE_POOLS
from policygen.spec.types import Model

_SHOWN = 10


class Placing:
    """Finds the pools of each model."""

    def __init__(self, pools: Sequence[PoolFacts]) -> None:
        self.pools = pools
        self.firm = [facts for facts in pools if not facts.pool.preemptible]
        self.by_name = {facts.name: facts for facts in pools}
        self.by_word: dict[str, dict[str, PoolFacts]] = {}
        """Every name that a model can use for a node type, to the pools with that type, by name."""
        self.by_product: dict[str, dict[str, PoolFacts]] = {}
        for facts in pools:
            labels = [value for _, value in facts.pool.node_selector]
            for word in (facts.name, facts.pool.capacity.node_type, *labels):
                if word is not None:
                    self.by_word.setdefault(word, {})[facts.name] = facts
            if facts.product is not None:
                self.by_product.setdefault(facts.product.id, {})[facts.name] = facts

    def allowed(self, model: Model, hits: list[Hit]) -> Sequence[PoolFacts]:
        """Pools that the placement allows, in its own order. Adds findings about the others to `hits`."""
        placement = model.placement
        if not placement.pools and not placement.node_types:
            found, firm = self.pools, self.firm
        else:
            found = self._named(model, hits)
            firm = [facts for facts in found if not facts.pool.preemptible]
        if placement.tolerate_preemptible:
            return found
        if found and not firm:
            hits.append(
                warn(
                    ONLY_PREEMPTIBLE_POOLS,
                    f'model "{model.name}" may use only preemptible pools, but does not tolerate '
                    "preemptible nodes; allow another pool, or write toleratePreemptible: true",
                    model,
                    "placement",
                )
            )
        return firm

    def _named(self, model: Model, hits: list[Hit]) -> Sequence[PoolFacts]:
        """Pools that the model names, or whose node type it names."""
        placement = model.placement
        found = self.pools
        if placement.pools:
            named = [self.by_name[name] for name in placement.pools if name in self.by_name]
            found = list({facts.name: facts for facts in named}.values())
        if not placement.node_types:
            return found
        matched: dict[str, PoolFacts] = {}
        for index, kind in enumerate(placement.node_types):
            of_kind = self._of_kind(kind)
            if placement.pools:
                of_kind = {facts.name: facts for facts in found if facts.name in of_kind}
            matched |= of_kind
            if not of_kind:
                hits.append(
                    Hit(
                        NODE_TYPE_NOT_OFFERED,
                        f'model "{model.name}": no pool offers node type "{kind}"; write one of '
                        f"{_offers(found)}",
                        model.field("placement") / "nodeTypes" / index,
                    )
                )
        if not matched:
            hits.append(
                warn(
                    MODEL_FITS_NO_POOL,
                    f'model "{model.name}" is not rendered, because no pool has a node type from '
                    "placement.nodeTypes; correct placement.nodeTypes, or add a pool with such "
                    "nodes",
                    model,
                )
            )
        return list(matched.values())

    def _of_kind(self, kind: str) -> dict[str, PoolFacts]:
        """Pools whose nodes have the type that a model names: product, label, instance type, or pool."""
        match = catalog.product(kind)
        called = self.by_word.get(kind, {})
        alike = self.by_product.get(match.product.id, {}) if match is not None else {}
        if called.keys() <= alike.keys():
            return alike
        if alike.keys() <= called.keys():
            return called
        return {
            facts.name: facts for facts in self.pools if facts.name in called or facts.name in alike
        }


def _offers(pools: Sequence[PoolFacts]) -> str:
    kinds = sorted({facts.product.id if facts.product else facts.name for facts in pools})
    more = f" and {len(kinds) - _SHOWN} more" if len(kinds) > _SHOWN else ""
    return (", ".join(kinds[:_SHOWN]) or "none") + more
