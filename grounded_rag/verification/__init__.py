"""Locating quotes and judging whether they carry their claims."""
