"""The function library of the language: one module per family, joined in ``registry``."""
