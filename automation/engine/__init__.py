"""The engine side of the driver: Pulumi behind a protocol, its events and states as values, and its toolchain."""
