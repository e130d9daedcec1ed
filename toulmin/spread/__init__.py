"""Work spread over the machines of a Ray cluster. Ray is imported in `cluster` and `pool` alone."""
