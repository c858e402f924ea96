"""Chains. What is imported here is registered for them, whoever imports a part of this package first."""

from swvp.structures.chain import best as best
