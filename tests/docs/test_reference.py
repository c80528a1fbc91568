"""The references are current: commands, params, benchmarks' metrics, navigation."""

import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
import yaml
from pydantic import BaseModel

from memrepro import store
from memrepro.cli import reference
from memrepro.errors import CheckFailed
from memrepro.params import Params
from tests.docs.pages import pages
from tests.projects import ROOT

DOCS = ROOT / "docs"
# What is fetched or made, upstream's own paths, and the README's example.
_ELSEWHERE = (
    *("data/raw", "data/runs", "data/provenance", "data/ledger", "data/data_"),
    "src/memrepro/memory/mine.py",
)
_ROW = re.compile(r"^\| `([^`]+)` \| (`[^`]*`|–) \| (`[^`]*`|–) \| (.+) \|$", re.MULTILINE)


def test_commands_are_current() -> None:
    reference.check(ROOT)


def test_another_page_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "docs/reference").mkdir(parents=True)
    (tmp_path / reference.PAGE).write_text(reference.page() + "x", encoding="utf-8")
    with pytest.raises(CheckFailed, match="differs"):
        reference.check(tmp_path)


def test_every_command_has_a_section_and_every_option_a_row() -> None:
    page = (ROOT / reference.PAGE).read_text(encoding="utf-8")
    for path, command in reference.commands().items():
        section = page.partition(f"## `{path}`\n")[2].partition("\n## ")[0]
        for parameter in command.params:
            assert all(f"`{name}`" in section for name in parameter.opts if name[0] == "-"), path


def _paths(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every key path of a params model; a table's own keys are `<…>`."""
    for name, field in model.model_fields.items():
        yield from _below(field.annotation, f"{prefix}{name}")


def _below(annotation: Any, path: str) -> Iterator[str]:
    origin = get_origin(annotation)
    if origin is Annotated:
        annotation = get_args(annotation)[0]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation.model_fields:
            yield from _paths(annotation, f"{path}.")
        else:
            yield path
    elif origin is dict and _is_model(get_args(annotation)[1]):
        yield from _below(get_args(annotation)[1], f"{path}.<>")
    else:
        assert origin not in (Union, types.UnionType) or not any(
            map(_is_model, get_args(annotation))
        )
        yield path


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def test_every_key_of_the_params_has_an_entry_and_no_other() -> None:
    page = (DOCS / "reference/params.md").read_text(encoding="utf-8")
    entries = [re.sub("<[^>]*>", "<>", row[0]) for row in _ROW.findall(page)]
    assert sorted(entries) == sorted(_paths(Params))
    assert len(re.findall(r"^\| `", page, re.MULTILINE)) == len(entries), "a malformed row"


@pytest.mark.parametrize(("column", "file"), [(1, "params.yaml"), (2, "full/params.yaml")])
def test_values_of_the_params_are_those_of_the_files(column: int, file: str) -> None:
    values = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
    page = (DOCS / "reference/params.md").read_text(encoding="utf-8")
    for row in _ROW.findall(page):
        if "<" in row[0]:
            assert row[column] == "–"
            continue
        value = values
        for key in row[0].split("."):
            value = value.get(key, "–") if isinstance(value, dict) else "–"
        said = row[column].strip("`")
        assert (said if said == "–" else yaml.safe_load(said)) == value, row[0]


@pytest.mark.parametrize("name", ["inmind", "cimemories", "retention"])
def test_every_metric_is_on_its_benchmarks_page(name: str) -> None:
    page = (DOCS / f"benchmarks/{name}.md").read_text(encoding="utf-8")
    for metric in store.names(name):
        assert f"`{metric}.sql`" in page, metric


def test_files_that_the_text_names_exist() -> None:
    """Paths in code spans that lie in folders of the checkout."""
    known = re.compile(r"`((?:src|data|docs|prompts|schema|sql|requirements|full)/[\w./-]+)`")
    for page in pages():
        for name in known.findall(page.read_text(encoding="utf-8")):
            place = f"src/memrepro/store/{name}" if name.startswith("sql/") else name
            assert place.startswith(_ELSEWHERE) or (ROOT / place).exists(), (page, name)


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        assert f" {page.relative_to(DOCS).as_posix()}\n" in text, page
