"""Chains. What is imported here is registered for them, whoever imports a part of this package first."""

from swvp.structures.chain import k_best as k_best
