"""How Berth finds, downloads or builds the Pulumi CLI, and what it needs to run it.

Callers import the noun they need from its module: ``ensure.ensure`` gives a ``Toolchain``, ``layout.Layout`` says where
things lie, ``environment.engine_environment`` gives the variables of every engine call, ``doctor.diagnose`` explains
what is missing. Everything lands under ``.berth/`` of the checkout or of the user's repo; nothing global is touched
except the ordinary caches of Go. What the engine is asked to do does not belong here.
"""
