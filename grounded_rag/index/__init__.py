"""The ledger, the vector and lexical indexes, and retrieval over them."""
