"""Analyses as clients get them: JSON, CoNLL-U, displaCy, a sentence or a token per line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from swvp.evaluation.counts import phrases
from swvp.serving.served import COLUMNS, Analysis, Served
from swvp.text.document import Document
from swvp.text.files import OUTPUTS as WRITERS
from swvp.text.files import written_back
from swvp.text.sentence import Sentence

__all__ = ["answer_of", "written"]


def answer_of(served: Served, analyses: Iterable[Analysis], output: str) -> dict[str, Any]:
    """Return the answer to a query, without its time."""
    if output != "json":
        return {"model": served.name, "output": output, "result": written(served, list(analyses), output)}
    sentences: list[dict[str, Any]] = []
    notes: dict[str, None] = {}
    for analysis in analyses:
        sentences += sentences_of(analysis)
        notes.update(dict.fromkeys(analysis.notes))
    answer: dict[str, Any] = {"model": served.name, "sentences": sentences}
    return answer | {"notes": list(notes)} if notes else answer


def sentences_of(analysis: Analysis) -> list[dict[str, Any]]:
    """Return the sentences of an analysis as JSON can hold them."""
    document = analysis.document
    fields = document.fields
    offsets = document.treebank.offsets.tolist()
    result = []
    for index, sentence in enumerate(document.sentences):
        begin, end = offsets[index], offsets[index + 1]
        labels: Sequence[str | None] = [None] * (end - begin) if analysis.labels is None else analysis.labels[index]
        words: list[dict[str, Any]] = [
            {
                "id": number,
                "form": form,
                "lemma": lemma,
                "upos": upos,
                "xpos": xpos,
                "feats": feats,
                "head": head,
                "deprel": deprel,
                "label": label,
            }
            for number, ((form, lemma, upos, xpos, feats, head, deprel, _), label) in enumerate(
                zip(fields[begin:end], labels, strict=True), 1
            )
        ]
        probabilities = analysis.confidence[index] if analysis.confidence is not None else None
        if probabilities is None and document.confidence is not None:
            probabilities = document.confidence[begin:end].tolist()
        if probabilities is not None:
            for word, probability in zip(words, probabilities, strict=True):
                word["confidence"] = probability
        shown: dict[str, Any] = {
            "id": sentence.id,
            "text": sentence.text,
            "start": sentence.start,
            "end": sentence.end,
            "tokens": tokens_of(sentence),
            "words": words,
        }
        if analysis.gold is not None:
            shown["gold"] = analysis.gold[begin:end]
        if analysis.alternatives is not None:
            shown["alternatives"] = analysis.alternatives[index]
        result.append(shown)
    return result


def tokens_of(sentence: Sentence) -> list[dict[str, Any]]:
    """Return the tokens of a sentence with the numbers of their words."""
    return [
        {
            "id": number,
            "text": text,
            "start": start,
            "end": end,
            "first_word": first,
            "last_word": last,
            "words": list(range(first, last + 1)),
        }
        for number, (text, start, end, first, last, _) in enumerate(sentence.tokens, 1)
    ]


# ---------------------------------------------------------------- other formats


def written(served: Served, analyses: Sequence[Analysis], output: str) -> Any:
    """Return analyses in a format other than JSON: a text, or a list for displaCy."""
    if output == "displacy":
        return [shown for analysis in analyses for shown in displacy(served, analysis)]
    in_column = getattr(served, "target", None) in COLUMNS
    return "".join(text_of(analysis, output, in_column=in_column) for analysis in analyses)


def displacy(served: Served, analysis: Analysis) -> Iterable[dict[str, Any]]:
    """Yield what displaCy draws of each sentence: its tree, or the phrases of a tagger."""
    for index, sentence in enumerate(analysis.document.sentences):
        if analysis.labels is None or not getattr(served, "has_phrases", False):
            yield sentence.to_displacy()
            continue
        tokens, begin = sentence.tokens, sentence.start
        ents = [
            {"start": tokens[a].start - begin, "end": tokens[b - 1].end - begin, "label": kind}
            for kind, a, b in phrases(analysis.labels[index])
        ]
        text = analysis.document.text
        first = begin - analysis.document.begin
        yield {"text": text[first : first + sentence.end - begin], "ents": ents, "title": None}


def text_of(analysis: Analysis, output: str, *, in_column: bool) -> str:
    """Return an analysis as text; labels that have no column of their own are in MISC, or after a tab."""
    document = analysis.document
    if analysis.labels is None or output == "horizontal" or (output == "conllu" and in_column):
        return conllu_of(document) if output == "conllu" else WRITERS[output](document)
    if output == "vertical":
        return "".join(
            "".join(
                f"{' '.join(token.text.split())}\t{label}\n"
                for token, label in zip(sentence.tokens, labels, strict=True)
            )
            + "\n"
            for sentence, labels in zip(document.sentences, analysis.labels, strict=True)
        )
    labels = iter([label for sentence in analysis.labels for label in sentence])
    return "\n".join(with_label(line, labels) for line in conllu_of(document).split("\n"))


def conllu_of(document: Document) -> str:
    """Return a document in CoNLL-U; where it was given so, comments and other columns stay."""
    return document.to_conllu() if document.treebank.table is None else written_back(document.treebank).decode()


def with_label(line: str, labels: Any) -> str:
    """Return a line of CoNLL-U with the next label in MISC, if it is that of a word."""
    fields = line.split("\t")
    if len(fields) < 10 or not fields[0].isdigit():
        return line
    label = f"Label={next(labels)}"
    fields[9] = label if fields[9] == "_" else f"{label}|{fields[9]}"
    return "\t".join(fields)
