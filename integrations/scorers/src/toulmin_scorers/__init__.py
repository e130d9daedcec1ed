"""Scorers for Inspect, Ragas and DeepEval: `inspect_scorer`, `ragas_metric` and `deepeval_metric`."""
