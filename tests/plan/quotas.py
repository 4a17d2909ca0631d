"""The quotas of a ClusterQueue, by resource."""


def quotas(it, flavor=0):
    return {
        cell.resource: (cell.nominal_quota, cell.borrowing_limit, cell.lending_limit)
        for cell in it.flavors[flavor].resources
    }
