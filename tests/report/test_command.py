"""`memrepro report`: the file that it writes, and what it says of it."""

from pathlib import Path

from memrepro.stages.work import Work
from tests.commands import Memrepro


def test_it_writes_one_file_and_says_how_large(
    sample: Work, html: str, tmp_path: Path, memrepro: Memrepro
) -> None:
    output = tmp_path / "new/page.html"
    ran = memrepro(sample.root, "report", "--output", str(output))
    assert ran.code == 0, ran.err
    assert output.read_text("utf-8") == html
    assert ran.out == f"{output}: {output.stat().st_size / 1e6:.1f} MB\n"
    assert ran.out.split()[1] != "0.0"


def test_a_dataset_that_was_not_run_is_told_with_what_runs_it(
    sample: Work, tmp_path: Path, memrepro: Memrepro
) -> None:
    output = tmp_path / "page.html"
    ran = memrepro(sample.root, "report", "--dataset", "full", "--output", str(output))
    assert (ran.code, ran.out) == (2, "")
    assert "hint:" in ran.err
    assert not output.exists()
