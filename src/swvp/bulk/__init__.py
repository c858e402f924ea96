"""Bulk prediction: many files into a folder, in threads or on a cluster, resumed after an interruption."""
