"""Readers for each format, metadata and span-first chunking."""
