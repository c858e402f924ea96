"""Which pieces of a treebank's text a tokenizer learns from."""

from swvp.text.characters import LABELS, LEAST_PIECE, training_corpus
from swvp.text.treebank_text import Paragraph

TEXT, SPANS = "Ann (40) left.", [(0, 3), (4, 5), (5, 7), (7, 8), (9, 13), (13, 14)]


def test_characters_have_the_labels_of_their_tokens():
    labels = training_corpus([Paragraph(TEXT, [SPANS])]).labels
    assert [LABELS[k][0] for k in labels.ids.tolist()] == list("iittittiiits")


def test_a_piece_begins_with_the_last_sentence_of_the_one_before():
    sentence = "x" * LEAST_PIECE
    starts = [k * (LEAST_PIECE + 1) for k in range(3)]
    paragraph = Paragraph(" ".join([sentence] * 3), [[(start, start + LEAST_PIECE)] for start in starts])
    offsets = training_corpus([paragraph]).offsets.tolist()
    assert offsets == [0, 2 * LEAST_PIECE, 4 * LEAST_PIECE]
