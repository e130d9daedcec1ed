"""Evaluation: how good are answers, against what is known to be right?"""
