"""A small Python language host for the Pulumi CLI, run by the interpreter that Berth itself runs in.

The CLI starts ``pulumi-language-python`` for a program whose runtime is ``python`` and for policy packs and providers
given as folders. The official archive has such a host; a CLI built from its Go module has none, so the toolchain places
a launcher of this package (``automation.engine.toolchain.host``). It runs programs, packs and providers. It manages no
virtual environments, installs nothing and generates no code: calls for that are refused in words.

Nothing here knows Berth's own program; any Pulumi program in Python runs.
"""
