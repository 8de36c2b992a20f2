"""The command line: `grounded-rag ingest | ask | verify | status | demo`.

Exit codes: 0 answered or done, 1 an error, 2 wrong usage, 3 refused or not accepted.
"""

from grounded_rag.cli.app import main

__all__ = ["main"]
