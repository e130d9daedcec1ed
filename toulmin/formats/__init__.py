"""The Answer as JSON and in other tools' formats."""
