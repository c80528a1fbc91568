"""A memory system in ten lines, as a package of its own."""

from collections.abc import Sequence

from memrepro.memory import Retriever


class WordOverlap(Retriever):
    """Ranks turns by how many words they share with the query."""

    def ranking(self, query: str) -> Sequence[int]:
        """Positions of all turns, those that share the most words first."""
        words = set(query.lower().split())
        shared = [len(words & set(turn.text.lower().split())) for turn in self.history.turns]
        return sorted(range(len(shared)), key=lambda place: -shared[place])
