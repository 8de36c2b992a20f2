"""Measuring: golden sets, runs, metrics with exact intervals, gates, reports and diagnosis."""
