"""What an audit found: shares, pairs, and their verification."""

from __future__ import annotations

import html
import logging
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from . import _probity, _process
from ._errors import OptionError
from ._files import fetch, is_path
from ._frames import Data
from ._inference import Signature
from ._models import Model, Predictor
from ._networks import import_network
from ._resuming import MODEL, Notes, read_notes
from ._run import Run
from ._rust import (
    FoundShare,
    read_disadvantaged,
    read_schema_of_run,
    read_shares,
    read_specification,
    verify_audit,
)
from ._texts import TextModel, Texts

_log = logging.getLogger("probity")

#: A cell of text in CSV that began with what formulas begin with.
_SAFE = "^'('*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])"


@dataclass(frozen=True, repr=False)
class Share:
    """A share, from 0 to 1, with its 95 % interval, and what it is a share of.

    `of` says it in words: `30,000 rows of the data`, or `9,000 of 32,561 rows of the data` where only
    some of them were asked about, drawn at random; `10,000 random inputs`. `inputs` is how many were
    asked about.
    """

    protected: tuple[str, ...]
    value: float
    low: float
    high: float
    inputs: int
    of: str

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return _probity.share_in_words(self.value, (self.low, self.high), self.of)

    def __repr__(self) -> str:
        return f"<probity.Share by {' + '.join(self.protected)}: {self}>"


def _read_shares(found: list[FoundShare] | None) -> list[Share]:
    return [
        Share(tuple(one["protected"]), one["value"], one["low"], one["high"], one["inputs"], one["of"])
        for one in found or ()
    ]


class Audit(Run):
    """What an audit found."""

    _kinds = ("audit",)

    @property
    def people(self) -> list[Share]:
        """The share of the rows whose decision changes, by each protected attribute and, last, by all
        jointly; empty where the audit was stopped before it was known.

        The rows are those of the data, or those that were named. For a model of texts these are
        `shares`. `summary["population"]` says whom it meets, in which direction,
        and how far their scores move.
        """
        return _read_shares(read_shares(self.summary)["data"])

    @property
    def shares(self) -> list[Share]:
        """The discriminatory share by each protected attribute and, last, by all jointly.

        For a model of tables it is the share of uniform random inputs whose decision changes with
        protected attributes alone; for a model of texts, that of the texts with a protected term.
        """
        found = read_shares(self.summary)
        return _read_shares(found["data"] if found["uniform"] is None else found["uniform"])

    @property
    def share(self) -> Share:
        """The discriminatory share by all protected attributes jointly: of the rows of the data, the
        last of `people`, or of the texts with a protected term.

        It is the first figure of the terminal and of reports, and, unless `bound="uniform"` is given,
        the one that `fail_above` is a bound on. Where the audit was stopped before the rows were asked
        about, it is `uniform`; `share.of` says what it is a share of.
        """
        return (self.people or self.shares)[-1]

    @property
    def disadvantaged(self) -> list[str]:
        """Who is disadvantaged, and by how much, in a sentence for each protected attribute alone, as
        the terminal and reports say it first; empty where no rows or texts were asked about as they
        are. `summary["population"]["effects"]`, or of texts `summary["unmodified"]["effects"]`, has
        the figures."""
        return read_disadvantaged(self.summary)

    @property
    def uniform(self) -> Share | None:
        """The discriminatory share of uniform random inputs by all protected attributes jointly, the
        last of `shares`; `None` for texts, and where none was drawn before the audit was stopped."""
        found = _read_shares(read_shares(self.summary)["uniform"])
        return found[-1] if found and found[-1].inputs > 0 else None

    @property
    def model_rows_per_second(self) -> float | None:
        """Rows that a model of Python answered in a second of its own time; `None` for others."""
        return self._speed[0] / self._speed[1] if self._speed and self._speed[1] else None

    @property
    def rows_per_second(self) -> float | None:
        """Rows that a model of Python answered in a second of the whole audit; `None` for others."""
        return self._speed[0] / self._speed[2] if self._speed and self._speed[2] else None

    def pairs(self) -> pa.Table:
        """Reads the pairs that were found, both sides in the words of the schema.

        Columns: `seed`, `phase`, `step` of the search; `x_…` and `other_…`, the values of both
        sides; `label_x`, `label_other`, their decisions; `changed`, what differs.
        """
        file = _probity.samples_file(str(self.directory))
        if str(file).endswith(".csv"):
            from pyarrow import csv

            # Words that look like numbers are words.
            with open(file, encoding="utf-8") as opened:
                header = opened.readline().rstrip("\n").split(",")
            words = {
                name.strip('"'): pa.string()
                for name in header
                if not name.strip('"').startswith(("seed", "step", "logit_", "number_"))
            }
            table = csv.read_csv(file, convert_options=csv.ConvertOptions(column_types=words))
            # What would be a formula to a spreadsheet stands behind an apostrophe.
            for place, name in enumerate(table.column_names):
                if name in words:
                    column = pc.replace_substring_regex(table.column(place), _SAFE, r"\1")
                    table = table.set_column(place, name, column)
            return table
        from pyarrow import parquet

        return parquet.read_table(file)

    def verify(self, model: Any = None, data: Any = None) -> dict[str, Any]:
        """Asks the model again about every pair, and counts those that are `confirmed` and those that
        are `rejected`, with the reasons.

        An audit of a model of Python that was loaded from its directory needs that `model`, and the
        `data`, by whose types it is asked. A model directory may have moved to `model`.
        """
        _process.begin()
        specification, notes = read_specification(self.directory)[1], read_notes(self.directory)
        source = specification.get("predictor", {}).get("source", "")
        if not source.startswith("memory:"):
            return self._verify_network(model, notes)
        if model is None and self._asked is not None:
            model, data = self._asked
        if model is None or data is None:
            raise OptionError(
                "the model was one of Python: give it, and the data that it was audited with"
            )
        if specification.get("modality") == "text":
            classes = notes["classes"] or []
            texts = Texts(data, notes["column"])
            predictor = Predictor(TextModel(model, notes["gives"]), texts, classes, classes)
        else:
            schema = specification["predictor"]["schema"]
            read, wrapped = Data(data, notes["ignore"], schema), Model(model, notes["gives"])
            wrapped.match_features(read.table.column_names)
            signature = Signature(wrapped, read, read_schema_of_run(schema, specification), notes)
            predictor = signature.make_predictor()
        with predictor.name(source.removeprefix("memory:"), exactly=True):
            return verify_audit(self.directory)

    def _verify_network(self, model: Any, notes: Notes) -> dict[str, Any]:
        """Verifies the pairs of a model directory, or of a network of PyTorch that was taken over."""
        own = self.directory / MODEL
        if model is not None and not is_path(model):
            model = import_network(model, notes["schema"], classes=notes["classes"])
        elif model is None:
            model = own if own.is_dir() else notes.get("urls", {}).get("model")
        with tempfile.TemporaryDirectory(prefix="probity-") as folder:
            place = None if model is None else os.fspath(model)
            if place is not None and "://" in place:
                place = fetch(place, Path(folder))
            return verify_audit(self.directory, place)

    @property
    def passed(self) -> bool | None:
        """Whether `share`, or with `bound="uniform"` the share `uniform`, is shown to be at most
        `fail_above`; `None` where that was not given. It is not shown where the audit was stopped
        before that share was known, nor of a model that does not take the protected attributes, unless
        `blind_ok=True` was given."""
        bound = self.summary.get("fail_above")
        return None if bound is None else bool(bound["verdict"] == "within")

    @property
    def not_taken(self) -> list[str]:
        """The protected attributes that the model does not take: it was fitted without them, or its
        answers are the same, bit for bit, for all of their values in everything that was asked. That
        no decision flips with them says nothing about columns that are proxies for them."""
        return list(self.summary.get("not_taken", ()))

    @property
    def is_complete(self) -> bool:
        """Whether the search and the estimates came to their end; if not, `resume=True` goes on."""
        return self.summary["ending"] not in ("interrupted", "time")

    def _warn(self) -> None:
        """Logs what a reader of the figures must know of them."""
        if not self.is_complete:
            _log.warning("the audit was stopped: its figures are of what was done by then")
        if said := _probity.not_taken(self.not_taken, self.summary["protected"]):
            _log.warning("%s", said)
        if self.summary.get("decides_alike") is not None:
            _log.warning(
                "the model decides everything alike (%s): nothing can be found in it",
                self.summary["decides_alike"].get("class", "one class"),
            )

    def _repr_html_(self) -> str:
        found = read_shares(self.summary)
        rows = "".join(
            f"<tr><td>{html.escape(' + '.join(share.protected))}</td><td>{html.escape(str(share))}</td></tr>"
            for share in [*_read_shares(found["data"]), *_read_shares(found["uniform"])]
        )
        pairs_found = self.summary["total"]["discriminatory_rows"]
        some = self.pairs().slice(0, 5).select(["changed", "label_x", "label_other"]).to_pylist()
        pairs = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row.values()) + "</tr>"
            for row in some
        )
        who = "".join(f"<p>{html.escape(said)}</p>" for said in self.disadvantaged)
        blind = ""
        if said := _probity.not_taken(self.not_taken, self.summary["protected"]):
            blind = f"<p>{html.escape(said[0].upper() + said[1:])}.</p>"
        return (
            f"{who}{blind}<table><caption>Discriminatory share</caption><tr><th>protected</th><th>share</th></tr>{rows}</table>"
            f"<table><caption>{pairs_found} pairs were found, for instance</caption>"
            f"<tr><th>changed</th><th>decision</th><th>other decision</th></tr>{pairs}</table>"
        )

    def __repr__(self) -> str:
        joint = self.share
        stopped = "" if self.is_complete else ", stopped before its end"
        not_taken = f", does not take {' + '.join(self.not_taken)}" if self.not_taken else ""
        of = " + ".join(joint.protected)
        who = "".join(f"\n  {said}" for said in self.disadvantaged)
        return f"<probity.Audit of {of}: {joint}{not_taken}{stopped}, in {self.directory}{who}>"
