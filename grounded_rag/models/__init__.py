"""Models that look at pairs of texts, read from a folder or an installed package, never fetched."""
