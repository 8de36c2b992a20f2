"""Text analysis shared by ingestion, generation and verification."""
