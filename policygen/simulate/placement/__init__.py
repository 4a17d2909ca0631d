"""Where kube-scheduler would put pods, as Kubernetes 1.36 filters and scores nodes."""
