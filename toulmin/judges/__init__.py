"""What decides whether passages support a claim."""
