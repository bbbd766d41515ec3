"""Clusters that exist: Berth reaches them by a kubeconfig and makes no infrastructure."""
