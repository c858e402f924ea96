"""The pipeline: from a text to tokens, sentences, words, tags, lemmas and trees, with one model file for all stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from swvp.errors import InputError
from swvp.io.treebank import Treebank
from swvp.pipeline import in_order
from swvp.text.document import Document, words_of
from swvp.text.segmentation import Segmentation
from swvp.text.stages import STAGES, load_parts, save_parts
from swvp.training.options import available_cores

__all__ = ["Pipeline"]


class Pipeline:
    """Tokens, sentences, multiword tokens, tags, lemmas and trees of a text, learnt from a treebank.

    Make one with `Pipeline.train` or `Pipeline.load`, and call it with a text.

    Parameters
    ----------
    parts : dict
        The trained parts by their names in `swvp.text.stages.PARTS`.
    training : dict, optional
        What is known about the training: the stages left out, and the scores on the dev set.

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
        order: int = 1,
        folds: int = 5,
        random_state: int = 0,
        n_jobs: int | None = None,
        encoding: str = "utf-8",
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
        order : int
            The order of the parser, 1 or 2.
        folds : int
            The number of folds; 1: the parser learns from gold tags and lemmas.
        random_state : int
            The seed; the same seed and data give the same model.
        n_jobs : int, optional
            The number of threads; all cores by default. The model does not depend on it.
        encoding : str
            The encoding of the files.
        watch : callable, optional
            Called with a line of text after each stage.

        Returns
        -------
        Pipeline
        """
        from swvp.text.train import train_pipeline
        from swvp.training.session import Session

        with Session() as session:
            return train_pipeline(
                session,
                train,
                dev,
                stages=stages,
                order=order,
                folds=folds,
                random_state=random_state,
                n_jobs=available_cores() if n_jobs is None else n_jobs,
                encoding=encoding,
                note=(lambda text: None) if watch is None else watch,
            )

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

    # ------------------------------------------------------------ prediction

    def __call__(self, text: str | Sequence[Sequence[str]]) -> Document:
        """Return a text with its analysis.

        Parameters
        ----------
        text : str or list of lists of str
            A text, or sentences that are divided into tokens.

        Returns
        -------
        Document
        """
        if isinstance(text, str):
            return self.analyse(text, self.segment(text))
        document = Document.from_tokens(list(text))
        return self.analyse(document.text, document.segmentation)

    def pipe(self, texts: Iterable[str | Sequence[Sequence[str]]], *, n_jobs: int = 1) -> Iterator[Document]:
        """Yield each of many texts with its analysis, in their order; they are read as needed.

        Parameters
        ----------
        texts : iterable of str, or of lists of lists of str
        n_jobs : int
            The number of threads; the result does not depend on it.

        Yields
        ------
        Document
        """
        if n_jobs < 1:
            raise InputError(f"n_jobs must be at least 1, not {n_jobs}")
        self.use_one_thread()
        yield from in_order(self, texts, n_jobs)

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
        self, text: str, segmentation: Segmentation, *, begin: int = 0, number: int = 1, continued: bool = False
    ) -> Document:
        """Return the analysis of a text that is divided into tokens.

        Parameters
        ----------
        text : str
        segmentation : Segmentation
        begin, number, continued
            Where the text is in a longer one, as in `Document`.

        Returns
        -------
        Document
        """
        expand = self.parts["multiword"].expand_all if "multiword" in self.parts else None
        document = words_of(text, segmentation, expand, begin=begin, number=number, continued=continued)
        return replace(document, treebank=self.complete(document.treebank))

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
