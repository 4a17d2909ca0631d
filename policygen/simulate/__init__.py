"""What the schedulers would do with workloads: Kueue's admission and the placement of pods."""
