"""The pipeline: from a text to tokens, sentences, words, tags, lemmas and trees, with one model file for all stages."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, overload

from swvp.errors import InputError
from swvp.io.treebank import Treebank
from swvp.pipeline import in_order
from swvp.text.document import Document, words_of
from swvp.text.lexicon import Lexicon, read_lexicon
from swvp.text.sentence import Segmentation
from swvp.text.stages import STAGES, chosen_stages, load_parts, save_parts
from swvp.training.options import available_cores

__all__ = ["Pipeline", "missing_tags"]


class Pipeline:
    """Tokens, sentences, multiword tokens, tags, lemmas and trees of a text, learnt from a treebank.

    Make one with `Pipeline.train` or `Pipeline.load`, and call it with a text.

    Parameters
    ----------
    parts : dict
        The trained parts by their names in `swvp.text.stages.PARTS`.
    training : dict, optional
        What is known about the training: the stages left out, whether there were tags, the scores on the dev set.

    See Also
    --------
    Document : what it returns.
    """

    def __init__(self, parts: dict[str, Any], training: dict[str, Any] | None = None):
        self.parts = dict(parts)
        self.training: dict[str, Any] = {} if training is None else dict(training)

    def __repr__(self) -> str:
        return f"<Pipeline: {', '.join(self.stages)}>"

    @property
    def stages(self) -> tuple[str, ...]:
        """The names of its stages, in their order."""
        return tuple(stage for stage in STAGES if stage in self.parts)

    # ------------------------------------------------------------ training and files

    @classmethod
    def train(
        cls,
        train: str | Path | Treebank,
        dev: str | Path | Treebank | None = None,
        *,
        stages: str | Sequence[str] = STAGES,
        tokens: Mapping[str, Any] | None = None,
        tags: Mapping[str, Any] | None = None,
        lemmas: Mapping[str, Any] | None = None,
        parser: Mapping[str, Any] | None = None,
        order: int = 2,
        lexicon: str | Path | None = None,
        folds: int = 5,
        random_state: int = 0,
        n_jobs: int | None = None,
        encoding: str = "utf-8",
        checkpoint: str | Path | None = None,
        watch: Callable[[str], object] | None = None,
    ) -> Pipeline:
        """Train the stages of a pipeline, one after the other.

        The parser learns from tags and lemmas as they will be predicted: those of each fold of the treebank are
        predicted by stages that are trained on the other folds.

        Parameters
        ----------
        train : str, Path or Treebank
            A file in CoNLL-U, or the folder of a treebank of Universal Dependencies, with files ``*-ud-train.conllu``
            and ``*-ud-dev.conllu``.
        dev : str, Path or Treebank, optional
            A dev set, by which the number of epochs is chosen, and on which all stages are scored.
        stages : sequence of str
            Some of tokens, tags, lemmas, trees. A stage for which the treebank has no data is left out.
        tokens, tags, lemmas : dict, optional
            Options of a stage, such as `tags={"epochs": 5}`: the number of epochs, and of tags and lemmas the hash size
            `places`.
        parser : dict, optional
            Options of `swvp.DependencyParser`, such as `{"epochs": 20, "batch_size": 32}`.
        order : int
            The order of the parser: 2 is more accurate, 1 is faster.
        lexicon : str or Path, optional
            A dictionary of lemmas, which goes before the lemmatizer: lines of form, UPOS (may be left out) and lemma,
            between tabs.
        folds : int
            The number of folds; 1: the parser learns from gold tags and lemmas.
        random_state : int
            The seed; the same seed and data give the same model.
        n_jobs : int, optional
            The number of threads; all cores by default. The model does not depend on it.
        encoding : str
            The encoding of the files.
        checkpoint : str or Path, optional
            Where an interrupted training is saved, as of `swvp.DependencyParser.fit`: for p.checkpoint the stages are
            in p.tokens.checkpoint and so on. The same call resumes; finished stages are not trained again.
        watch : callable, optional
            Called with a line of text after each stage.

        Returns
        -------
        Pipeline
        """
        from swvp.text.train import train_pipeline
        from swvp.training.observer import NoteCallback
        from swvp.training.session import Session

        with Session(checkpoint, observers=[] if watch is None else [NoteCallback(watch)]) as session:
            pipeline = train_pipeline(
                session,
                train,
                dev,
                stages=stages,
                settings={
                    "tokens": tokens,
                    "tags": tags,
                    "lemmas": lemmas,
                    "trees": {"order": order, **(parser or {})},
                },
                folds=folds,
                random_state=random_state,
                n_jobs=available_cores() if n_jobs is None else n_jobs,
                encoding=encoding,
                lexicon=lexicon,
            )
            session.remove_checkpoints()
            return pipeline

    def save(self, path: str | Path) -> None:
        """Write all stages to one file, completely or not at all.

        Parameters
        ----------
        path : str or Path
        """
        save_parts(Path(path), self.parts, self.training)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a pipeline that `save` wrote; safe with files from untrusted sources.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        Pipeline
        """
        return cls(*load_parts(Path(path)))

    def only(self, stages: str | Sequence[str]) -> Pipeline:
        """Return a pipeline with some of the stages.

        Parameters
        ----------
        stages : sequence of str
            Some of `stages`, also as one text with commas between them.

        Returns
        -------
        Pipeline
        """
        wanted = chosen_stages(stages)
        for stage in wanted:
            if stage not in self.parts:
                raise InputError(f"the pipeline has no stage {stage}, it has {', '.join(self.stages)}")
        kept = {*wanted, *(["multiword"] if "tokens" in wanted else [])}
        return Pipeline({name: part for name, part in self.parts.items() if name in kept}, self.training)

    def add_lexicon(self, lexicon: str | Path | Lexicon) -> None:
        """Let a dictionary of lemmas go before the lemmatizer, and before what is in its dictionary already.

        Parameters
        ----------
        lexicon : str, Path or dict
            A file with lines of form, UPOS (may be left out) and lemma, between tabs; or the lemma of each
            (form, UPOS), UPOS "" for any.
        """
        if "lemmas" not in self.parts:
            raise InputError(f"a dictionary of lemmas, but the pipeline has no stage lemmas: {', '.join(self.stages)}")
        entries = lexicon if isinstance(lexicon, dict) else read_lexicon(lexicon)
        lemmatizer = self.parts["lemmas"]
        lemmatizer.lexicon = lemmatizer.lexicon | entries

    # ------------------------------------------------------------ prediction

    @overload
    def __call__(self, text: str, *, n_jobs: int = 1, confidence: bool = False) -> Document: ...

    @overload
    def __call__(
        self, text: Iterable[str] | Iterable[Sequence[str]], *, n_jobs: int = 1, confidence: bool = False
    ) -> Any: ...

    def __call__(self, text: Any, *, n_jobs: int = 1, confidence: bool = False) -> Any:
        """Return a text with its analysis.

        Parameters
        ----------
        text : str, list of lists of str, or iterable of str
            A text; or sentences that are divided into tokens; or many texts, which are read as needed.
        n_jobs : int
            The number of threads for many texts.
        confidence : bool
            Whether words have the probabilities of their arcs, as of `swvp.DependencyParser.confidence`: that takes
            longer.

        Returns
        -------
        Document, or iterator of Document
            One document; of many texts, an iterator over theirs, as from `pipe`.
        """
        if isinstance(text, str):
            return self._document(text, confidence)
        parts = iter(checked(text))
        first = list(itertools.islice(parts, 1))
        parts = itertools.chain(first, parts)
        if first and isinstance(first[0], str):
            return self.pipe(parts, n_jobs=n_jobs, confidence=confidence)
        return self._document(list(parts), confidence)

    def _document(self, text: str | Sequence[Sequence[str]], confidence: bool) -> Document:
        if isinstance(text, str):
            return self.analyse(text, self.segment(text), confidence=confidence)
        document = Document.from_tokens(list(checked(text)))
        return self.analyse(document.text, document.segmentation, confidence=confidence)

    def only_words(self, sentences: Sequence[Sequence[str]]) -> Document:
        """Return the analysis of sentences of words: unlike tokens, they are not expanded.

        Parameters
        ----------
        sentences : list of lists of str

        Returns
        -------
        Document
        """
        return self.completed(Document.from_tokens(sentences), confidence=False)

    def pipe(
        self, texts: Iterable[str | Sequence[Sequence[str]]], *, n_jobs: int = 1, confidence: bool = False
    ) -> Iterator[Document]:
        """Yield each of many texts with its analysis, in their order; they are read as needed.

        Parameters
        ----------
        texts : iterable of str, or of lists of lists of str
        n_jobs : int
            The number of threads; the result does not depend on it.
        confidence : bool
            Whether words have the probabilities of their arcs.

        Yields
        ------
        Document
        """
        if n_jobs < 1:
            raise InputError(f"n_jobs must be at least 1, not {n_jobs}")
        if isinstance(texts, str):
            raise InputError("pipe takes many texts, this is one: call the pipeline with it, or give a list")
        checked(texts)
        self.use_one_thread()
        yield from in_order(lambda text: self._document(text, confidence), map(checked, texts), n_jobs)

    def use_one_thread(self) -> None:
        """Let the parser use one thread, because several texts are analysed at the same time."""
        if "trees" in self.parts:
            self.parts["trees"].parser.n_jobs = 1

    def segment(self, text: str) -> Segmentation:
        """Return where the tokens and sentences of a text are.

        Parameters
        ----------
        text : str

        Returns
        -------
        Segmentation
        """
        return Segmentation(*self.tokenizer.segment(text))

    @property
    def tokenizer(self) -> Any:
        """The stage of tokens; raises InputError if there is none."""
        if "tokens" not in self.parts:
            raise InputError(
                "the pipeline has no stage for tokens: give sentences that are divided into tokens "
                "(--input horizontal, vertical or conllu)"
            )
        return self.parts["tokens"]

    def analyse(
        self,
        text: str,
        segmentation: Segmentation,
        *,
        begin: int = 0,
        number: int = 1,
        continued: bool = False,
        confidence: bool = False,
    ) -> Document:
        """Return the analysis of a text that is divided into tokens.

        Parameters
        ----------
        text : str
        segmentation : Segmentation
        begin, number, continued
            Where the text is in a longer one, as in `Document`.
        confidence : bool
            Whether words have the probabilities of their arcs.

        Returns
        -------
        Document
        """
        expander = self.parts.get("multiword")
        document = words_of(text, segmentation, expander, begin=begin, number=number, continued=continued)
        return self.completed(document, confidence=confidence)

    def completed(self, document: Document, *, confidence: bool = False) -> Document:
        """Return a document of words with tags, lemmas and trees, as far as there are such stages.

        Parameters
        ----------
        document : Document
        confidence : bool
            Whether words have the probabilities of their arcs.

        Returns
        -------
        Document
        """
        if not confidence:
            return replace(document, treebank=self.complete(document.treebank))
        if "trees" not in self.parts:
            raise InputError("confidences are those of trees, but the pipeline has no stage trees")
        without = {name: part for name, part in self.parts.items() if name != "trees"}
        treebank = Pipeline(without).complete(document.treebank)
        if not treebank.tokens:
            return replace(document, treebank=treebank)
        heads, labels, values = self.parts["trees"].confidence(treebank)
        return replace(document, treebank=treebank.with_trees(heads, labels), confidence=values)

    def complete(self, treebank: Treebank) -> Treebank:
        """Return the words of a treebank with tags, lemmas and trees, as far as there are such stages.

        Parameters
        ----------
        treebank : Treebank

        Returns
        -------
        Treebank
        """
        if not treebank.tokens:
            return treebank
        if "tags" in self.parts:
            upos, xpos, feats = self.parts["tags"].predict(treebank.words, treebank.offsets)
            treebank = replace(treebank, upos=upos, xpos=xpos, feats=feats)
        if "lemmas" in self.parts:
            columns = treebank.words, treebank.upos, treebank.xpos, treebank.feats
            treebank = replace(treebank, lemmas=self.parts["lemmas"].predict(*columns, treebank.offsets))
        if "trees" in self.parts:
            treebank = treebank.with_trees(*self.parts["trees"].predict(treebank))
        return treebank


def checked(text: Any) -> Any:
    """Return a text, or sentences of tokens, or many texts; raise InputError for anything else."""
    if isinstance(text, bytes | bytearray):
        raise InputError("a text must be a str, not bytes: decode them first, as with text.decode()")
    if not isinstance(text, Iterable):
        raise InputError(f"a pipeline analyses a text, sentences of tokens, or many texts, not {text!r}")
    return text


def missing_tags(pipeline: Pipeline, *, has_tags: bool) -> str | None:
    """Return which stages need tags that neither the pipeline predicts nor the input has; None if there are none."""
    wanting = [stage for stage in ("lemmas", "trees") if stage in pipeline.parts]
    if has_tags or "tags" in pipeline.parts or not wanting or not pipeline.training.get("with tags"):
        return None
    return f"{' and '.join(wanting)} were learnt with tags (UPOS), which the pipeline does not predict"
