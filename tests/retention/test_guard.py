"""The guard hands on what is permitted, forgets on demand, and never leaks a policy."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepro.policy import Decision, Governance
from memrepro.records import Session, Turn
from tests.memory.fakes import ids
from tests.retention.corpus import POLICIES, guarded, observations

PETS = "No pets."
NO_PETS = Governance("deterministic", rules={PETS: ("cat", "dog")})
WRAPPED = ("bm25", "exact", "full_context", "sqlite_fts")


def fact(number: int, text: str) -> Turn:
    return Turn(id=f"f{number}", role="user", text=text)


@pytest.mark.parametrize("system", WRAPPED)
def test_what_is_blocked_is_recorded_and_never_handed_on(system: str) -> None:
    guard = guarded(NO_PETS, system=system)()
    assert guard.retain(fact(0, "My cat sleeps."))  # no policy yet
    guard.set_policy(PETS)
    assert not guard.retain(fact(1, "My dog barks."))
    assert guard.retain(fact(2, "A dogma of mine."))
    guard.ingest(Session(id="s", turns=(fact(3, "The cat again."), fact(4, "I sail."))))
    assert guard.decisions == {
        "f0": Decision(True, "rules", "cat"),
        "f1": Decision(True, "rules", "dog"),
        "f2": Decision(False, "rules"),
        "f3": Decision(True, "rules", "cat"),
        "f4": Decision(False, "rules"),
    }
    texts = ("My cat sleeps.", "My dog barks.", "A dogma of mine.", "The cat again.", "I sail.")
    recalled = {item for text in texts for item in ids(guard.recall(text, 5))}
    assert recalled == {"f2", "f4"}
    assert guard.decision("f9") is None


@pytest.mark.parametrize("system", WRAPPED)
def test_forgetting_leaves_what_never_knew(system: str) -> None:
    late, never = guarded(NO_PETS, system=system)(), guarded(NO_PETS, system=system)()
    for number, text in enumerate(("I sail.", "My cat sleeps.", "I sail and I sing.")):
        late.retain(fact(number, text))
        if "cat" not in text:
            never.retain(fact(number, text))
    assert late.digest() != never.digest()
    late.set_policy(PETS)
    never.set_policy(PETS)
    assert late.digest() == never.digest()
    assert late.recall("My cat sleeps.", 5) == never.recall("My cat sleeps.", 5)


def test_a_lifted_policy_brings_nothing_back_and_lets_the_next_fact_in() -> None:
    guard = guarded(NO_PETS)()
    guard.set_policy(PETS)
    guard.retain(fact(0, "My cat sleeps."))
    guard.set_policy(None)
    assert guard.recall("My cat sleeps.", 5) == []
    assert guard.retain(fact(1, "My cat sleeps."))
    assert ids(guard.recall("My cat sleeps.", 5)) == ["f1"]


def test_a_fork_keeps_its_own_policy_and_decisions() -> None:
    guard = guarded(NO_PETS)()
    guard.retain(fact(0, "My cat sleeps."))
    fork = guard.fork()
    fork.set_policy(PETS)
    assert fork.recall("My cat sleeps.", 5) == [] and fork.decisions["f0"].blocked
    assert ids(guard.recall("My cat sleeps.", 5)) == ["f0"] and not guard.decisions["f0"].blocked
    assert guard.statement is None and guard.digest() != fork.digest()


def test_the_model_is_asked_once_a_fact_and_policy() -> None:
    asked: list[tuple[str, str]] = []

    def ask(text: str, statement: str) -> int:
        asked.append((text, statement))
        return 0

    guard = guarded(Governance("llm"), ask)()
    guard.retain(fact(0, "I sail."))
    assert asked == []
    guard.set_policy("No hobbies.")
    guard.set_policy("No boats.")
    guard.retain(fact(1, "I sing."))
    assert asked == [
        ("I sail.", "No hobbies."), ("I sail.", "No boats."), ("I sing.", "No boats."),
    ]  # fmt: skip


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(12)), st.sampled_from(["exact", "sqlite_fts"]))
def test_a_policy_never_reaches_another_sample(order: list[int], system: str) -> None:
    alone = {
        policy.id: observations([number], system)[policy.id]
        for number, policy in enumerate(POLICIES)
        if number in order[:3]
    }
    together = observations(order, system)
    assert {policy_id: together[policy_id] for policy_id in alone} == alone
    blocked = {(p, row.fact_id.rpartition("-")[0]) for p, of in together.items() for row in of
               if row.blocked}  # fmt: skip
    assert blocked == {(policy.id, policy.category) for policy in POLICIES}


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_policy_never_reaches_another_worker_s_samples(workers: int) -> None:
    order = [5, 0, 11, 3, 8]
    alone = observations(order, "sqlite_fts")
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        found = pool.map(observations, [[number] for number in order], ["sqlite_fts"] * 5)
        assert {policy_id: of for part in found for policy_id, of in part.items()} == alone
