"""Linear chains. Importing `k_best` here registers the k best outputs of taggers, whichever module comes first."""

from swvp.structures.chain import k_best as k_best
