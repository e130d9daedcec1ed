"""Language models: remote, local, scripted, cached."""
