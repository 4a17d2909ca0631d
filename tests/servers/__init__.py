"""A real control plane for tests: servers built from Go modules, run on loopback."""
