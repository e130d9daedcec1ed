"""The Answer as JSON, and as other tools know it."""
