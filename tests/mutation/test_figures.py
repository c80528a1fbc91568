"""The figures of a mutation run, counted by hand."""

import io

import pytest

from tests.mutation.figures import main, read, table

RESULTS = """\
    memrepro.stats.x_wilson__mutmut_1: killed
    memrepro.stats.x_wilson__mutmut_2: killed
    memrepro.stats.x__check_items__mutmut_1: survived
    memrepro.stats.x_units__mutmut_1: timeout
    memrepro.llm.ledger.xǁStoreǁget__mutmut_1: killed
    memrepro.llm.ledger.x_resolve__mutmut_1: no tests
"""


def test_only_a_failed_test_is_a_kill() -> None:
    assert table(read(RESULTS.splitlines())) == (
        "module               mutants  killed  survived  timeout  share\n"
        "memrepro.llm.ledger        2       1         1        0  50.0%\n"
        "memrepro.stats             4       2         1        1  50.0%\n"
        "all                        6       3         2        1  50.0%"
    )


@pytest.mark.parametrize("text", ["", "    memrepro.stats.x_wilson__mutmut_1: not checked\n"])
def test_a_run_that_was_not_finished_has_no_figures(text: str) -> None:
    with pytest.raises(ValueError, match=r"no mutants|not decided"):
        read(text.splitlines())


@pytest.mark.parametrize(
    ("killed", "survived", "code", "share"),
    [(9, 1, 0, "90.0%"), (8999, 1001, 1, "89.9%"), (0, 1, 1, "0.0%"), (1, 0, 0, "100.0%")],
)
def test_nine_tenths_of_each_module_is_required(
    killed: int,
    survived: int,
    code: int,
    share: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    good = "m.good.x_f__mutmut_1: killed\n" * 100_000
    found = "m.a.x_f__mutmut_1: killed\n" * killed + "m.a.x_f__mutmut_2: survived\n" * survived
    monkeypatch.setattr("sys.stdin", io.StringIO(good + found))
    assert main() == code
    out, err = capsys.readouterr()
    (line,) = [line for line in out.splitlines() if line.startswith("m.a ")]
    assert line.endswith(f" {share}")
    assert ("m.a" in err) == bool(code)
