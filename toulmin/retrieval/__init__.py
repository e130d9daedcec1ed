"""Which passages rank best for a query."""
