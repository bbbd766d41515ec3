"""The public entry of the fleet: a gateway on each front door, endpoints behind it, services that divide traffic."""
