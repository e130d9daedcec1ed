"""The trained parts of Toulmin: data only."""
