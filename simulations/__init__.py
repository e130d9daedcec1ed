"""Simulation: writers with set faults and judges by chance, for tests and benchmarks only."""
