"""Linear chains. The imports register optional operations of taggers, whichever module comes first."""

from swvp.structures.chain import expected as expected
from swvp.structures.chain import expected_pairs as expected_pairs
from swvp.structures.chain import k_best as k_best
from swvp.structures.chain import output_lattice as output_lattice
from swvp.structures.chain import search_direction as search_direction
