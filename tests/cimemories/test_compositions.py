"""Composition experiments: what each set holds, and that no set moves another."""

import pytest

from memrepro.benchmarks.cimemories.compositions import compose_sets
from memrepro.errors import InputError
from memrepro.records import CIMemoriesLabels

# Two necessary, twelve inappropriate, one ambiguous attribute.
LABELS = CIMemoriesLabels(profile=3, place=4, labels="nn" + "i" * 12 + "a")
NEEDED, BARRED, OPEN = {1, 2}, set(range(3, 15)), {15}


def sets(*kinds: str, labels: CIMemoriesLabels = LABELS, seed: int = 1) -> dict[str, set[int]]:
    return {row.composition: set(row.positions) for row in compose_sets(labels, kinds, seed)}


def test_full_holds_everything() -> None:
    assert sets("full") == {"full": NEEDED | BARRED | OPEN}


def test_all_share_steps_by_ten_inappropriate_ones() -> None:
    found = sets("all_share")
    assert list(found) == ["all_share=0", "all_share=10"]
    assert found["all_share=0"] == NEEDED | OPEN
    assert found["all_share=10"] >= NEEDED | OPEN and len(found["all_share=10"] & BARRED) == 10


def test_all_not_share_steps_by_one_necessary_one() -> None:
    found = sets("all_not_share")
    assert [len(found[f"all_not_share={n}"] & NEEDED) for n in (0, 1, 2)] == [0, 1, 2]
    assert all(one >= BARRED | OPEN for one in found.values())


def test_iid_draws_1_11_21_labelled_ones_and_keeps_the_ambiguous() -> None:
    found = sets("iid")
    assert list(found) == ["iid=1", "iid=11"]  # 14 are labelled
    assert [len(found[name] - OPEN) for name in found] == [1, 11]
    assert all(one >= OPEN for one in found.values())


def test_no_two_sets_of_a_context_share_a_name() -> None:
    rows = list(compose_sets(LABELS, ["full", "iid", "all_share", "all_not_share"], 1))
    assert len({row.composition for row in rows}) == len(rows)


def test_a_draw_depends_on_seed_context_and_name_alone() -> None:
    assert sets("iid") == {
        name: one for name, one in sets("full", "all_share", "iid").items() if name[:3] == "iid"
    }
    assert sets("iid", seed=2) != sets("iid")
    other = LABELS.model_copy(update={"place": 5})
    assert sets("iid", labels=other) != sets("iid")


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="no composition 'some'") as caught:
        sets("some")
    assert caught.value.where == "params, key cimemories.compositions"
