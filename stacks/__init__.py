"""What Pulumi runs: the program, the shard of an environment that a stack holds, and the folder it is read from."""
