"""The Structured Weighted Violations Perceptron (Dror & Reichart, EMNLP 2016), with a tagger and a parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swvp._names import lazy_names, point_to_new_names
from swvp._version import __version__ as __version__

if TYPE_CHECKING:
    from swvp import evaluation as evaluation
    from swvp import features as features
    from swvp import io as io
    from swvp import plots as plots
    from swvp import rules as rules
    from swvp import structures as structures
    from swvp import studies as studies
    from swvp import theory as theory
    from swvp import tracing as tracing
    from swvp.crfsuite import CRF as CRF
    from swvp.errors import InputError as InputError
    from swvp.estimators import DependencyParser as DependencyParser
    from swvp.estimators import SequenceTagger as SequenceTagger
    from swvp.estimators import StructuredPerceptron as StructuredPerceptron
    from swvp.io.treebank import Treebank as Treebank
    from swvp.learning.rule import UpdateRule as UpdateRule
    from swvp.learning.rule import as_rule as as_rule
    from swvp.learning.rule import register_gamma as register_gamma
    from swvp.learning.rule import register_substructures as register_substructures
    from swvp.parsing.tree import DependencyTree as DependencyTree
    from swvp.text.document import Document as Document
    from swvp.text.pipeline import Pipeline as Pipeline

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CRF": "swvp.crfsuite",
        "DependencyParser": "swvp.estimators",
        "DependencyTree": "swvp.parsing.tree",
        "Document": "swvp.text.document",
        "InputError": "swvp.errors",
        "Pipeline": "swvp.text.pipeline",
        "SequenceTagger": "swvp.estimators",
        "StructuredPerceptron": "swvp.estimators",
        "Treebank": "swvp.io.treebank",
        "UpdateRule": "swvp.learning.rule",
        "as_rule": "swvp.learning.rule",
        "evaluation": "swvp.evaluation",
        "features": "swvp.features",
        "io": "swvp.io",
        "plots": "swvp.plots",
        "register_gamma": "swvp.learning.rule",
        "register_substructures": "swvp.learning.rule",
        "rules": "swvp.rules",
        "structures": "swvp.structures",
        "studies": "swvp.studies",
        "theory": "swvp.theory",
        "tracing": "swvp.tracing",
    },
)

point_to_new_names()
