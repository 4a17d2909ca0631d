"""Why a workload waits, and the smallest changes with which it would be admitted, each proven by a trial."""
