"""What the engine starts when the pack is given as a folder or as an executable file."""

from components.protocol_only import leave_sdk_out

leave_sdk_out()

from policies.analyzer import serve  # noqa: E402 - only now may the protocol be imported

serve()
