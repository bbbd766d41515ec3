"""Reference pages of the documentation, made from the models and the command line; never imported by a command."""
