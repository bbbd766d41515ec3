"""The backed mode: simulated clouds whose clusters are real control planes on this machine.

One process, ``keeper``, owns the control planes of a project from ``berth backing`` until it ends; everything else asks
it through ``door``: the simulated cloud that is to make a cluster, the stand-in of a cloud's token program
(``token_program``), and ``front``, which stands before the real Kubernetes provider. What exists only on real clusters
is played by ``stand_ins`` and ``charts``, and named by them. A world of this kind ends with its keeper.
"""
