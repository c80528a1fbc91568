"""What a file of profiles holds, in numbers."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from memrepro.benchmarks.cimemories.profiles import Profile
from memrepro.errors import InputError

# `eval/metrics.py` of the released code drops private keys that contain one of these, lower-cased.
FILTERED = ("name", "address", "sex", "age")


def data_facts(profiles: Sequence[Profile]) -> dict[str, Any]:
    """Count profiles, attributes, contexts and their irregularities.

    `keys_dropped_by_released_filter` are the keys that contain a filtered word as a substring;
    `of_these_inside_another_word` those in which it is never a word of its own, as in `mortgage`.
    `duplicate_statements` counts the attributes whose statement an earlier one of the profile has.

    Raises:
        InputError: no profile, or profiles with different numbers of contexts.
    """
    attributes = [one for profile in profiles for one in profile.attributes]
    sizes = {len(profile.contexts) for profile in profiles}
    if len(sizes) != 1:
        raise InputError(
            "profiles with one number of contexts are wanted", found=sorted(sizes) or "no profile"
        )
    dropped = [one.key for one in attributes if is_filtered(one.key)]
    pairs = {(one["recipient"], one["task"]) for each in profiles for one in each.contexts}
    return {
        "profiles": len(profiles),
        "attributes": len(attributes),
        "mean_attributes": round(len(attributes) / len(profiles), 2),
        "contexts_per_profile": sizes.pop(),
        "distinct_contexts": len(pairs),
        "keys_dropped_by_released_filter": len(dropped),
        "of_these_inside_another_word": sum(not _has_filtered_word(key) for key in dropped),
        "duplicate_statements": sum(map(_duplicates, profiles)),
        "domains": dict(Counter(one.domain for one in attributes).most_common()),
        "attribute_without_value": sum(one.value is None for one in attributes),
        "non_string_values": sum(type(one.value) is not str for one in attributes),
    }


def is_filtered(key: str) -> bool:
    """Whether the released code's filter meets this key."""
    return any(word in key.lower() for word in FILTERED)


def _has_filtered_word(key: str) -> bool:
    return not set(FILTERED).isdisjoint(re.split("[^a-z]+", key.lower()))


def _duplicates(profile: Profile) -> int:
    return len(profile.attributes) - len({one.statement for one in profile.attributes})
