"""Volcano's scheduler 1.14.1, simulated."""
