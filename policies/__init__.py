"""The CrossGuard pack: what may never be applied, whoever planned it.

The pack learns the fleet from what Cluster, Pool and Replica components registered and cross-checks it against the raw
resources under them, so a component that lies is a violation of its own. It imports only the pure packages of
``components``: the gate does not trust the scheduler, it recomputes.
"""
