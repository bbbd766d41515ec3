"""Real control planes on this machine: Kubernetes itself, without containers, with nodes that only look like machines.

``local`` starts and ends them, ``machines`` and ``nodes`` make GPU nodes as the drivers publish them. Whatever a
simulated Kubernetes was not taught to refuse, these do. Pods never run: kwok says that they do.
"""
