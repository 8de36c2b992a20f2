"""Generators: structured output from a named model, and the built-in extractive one."""
