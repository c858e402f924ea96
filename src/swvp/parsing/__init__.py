"""Owns dependency parsing: trees over the words of a sentence."""
