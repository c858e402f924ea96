"""The Structured Weighted Violations Perceptron (Dror & Reichart, EMNLP 2016) and what is built on it."""

__version__ = "0.1.0"
