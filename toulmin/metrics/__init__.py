"""What is measured of answers: each metric a column of values, one a question, with its reasons."""
