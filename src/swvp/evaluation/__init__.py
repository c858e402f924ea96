"""Scores of predicted labels and trees, equal to those of the official scorers, and paired significance tests.

`evaluate_tags`, `evaluate_phrases` and `evaluate_trees` score one prediction; `evaluate_raw` scores an analysis of raw
text, whose tokens and sentences may differ from the gold ones. `compare_tags` and `compare_trees` test whether a second
prediction is better than a first one; `compare_sets` does so on several test sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swvp._names import lazy_names

if TYPE_CHECKING:
    from swvp.evaluation.counts import Confusion as Confusion
    from swvp.evaluation.counts import Counts as Counts
    from swvp.evaluation.counts import PhraseScores as PhraseScores
    from swvp.evaluation.counts import Share as Share
    from swvp.evaluation.counts import evaluate_phrases as evaluate_phrases
    from swvp.evaluation.counts import token_accuracy as token_accuracy
    from swvp.evaluation.paired import Comparison as Comparison
    from swvp.evaluation.paired import Difference as Difference
    from swvp.evaluation.paired import compare_counts as compare_counts
    from swvp.evaluation.paired import compare_seeds as compare_seeds
    from swvp.evaluation.paired import compare_sets as compare_sets
    from swvp.evaluation.paired import holm as holm
    from swvp.evaluation.paired import paired_bootstrap as paired_bootstrap
    from swvp.evaluation.paired import paired_permutation as paired_permutation
    from swvp.evaluation.raw_text import RawScores as RawScores
    from swvp.evaluation.raw_text import evaluate_raw as evaluate_raw
    from swvp.evaluation.tags import TagScores as TagScores
    from swvp.evaluation.tags import compare_tags as compare_tags
    from swvp.evaluation.tags import confusion as confusion
    from swvp.evaluation.tags import evaluate_tags as evaluate_tags
    from swvp.evaluation.tags import sentence_counts as sentence_counts
    from swvp.evaluation.tree_scores import Attachment as Attachment
    from swvp.evaluation.tree_scores import Group as Group
    from swvp.evaluation.tree_scores import TreeScores as TreeScores
    from swvp.evaluation.trees import attachment_counts as attachment_counts
    from swvp.evaluation.trees import compare_trees as compare_trees
    from swvp.evaluation.trees import evaluate_trees as evaluate_trees

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Attachment": "swvp.evaluation.tree_scores",
        "Comparison": "swvp.evaluation.paired",
        "Confusion": "swvp.evaluation.counts",
        "Counts": "swvp.evaluation.counts",
        "Difference": "swvp.evaluation.paired",
        "Group": "swvp.evaluation.tree_scores",
        "PhraseScores": "swvp.evaluation.counts",
        "RawScores": "swvp.evaluation.raw_text",
        "Share": "swvp.evaluation.counts",
        "TagScores": "swvp.evaluation.tags",
        "TreeScores": "swvp.evaluation.tree_scores",
        "attachment_counts": "swvp.evaluation.trees",
        "compare_counts": "swvp.evaluation.paired",
        "compare_seeds": "swvp.evaluation.paired",
        "compare_sets": "swvp.evaluation.paired",
        "compare_tags": "swvp.evaluation.tags",
        "compare_trees": "swvp.evaluation.trees",
        "confusion": "swvp.evaluation.tags",
        "evaluate_phrases": "swvp.evaluation.counts",
        "evaluate_raw": "swvp.evaluation.raw_text",
        "evaluate_tags": "swvp.evaluation.tags",
        "evaluate_trees": "swvp.evaluation.trees",
        "holm": "swvp.evaluation.paired",
        "paired_bootstrap": "swvp.evaluation.paired",
        "paired_permutation": "swvp.evaluation.paired",
        "sentence_counts": "swvp.evaluation.tags",
        "token_accuracy": "swvp.evaluation.counts",
    },
)
