"""What serves models on a cluster: replicas, caches, namespaces and the secrets they need."""
