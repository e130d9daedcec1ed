"""The report: runs and their scores as one page that opens every number, and as plots."""
