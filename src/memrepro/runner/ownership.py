"""Whose checkout it is: nothing of root's is left in another user's."""

import os
import pwd
from pathlib import Path

from memrepro.errors import InputError


def refuse_root_over_another_user(root: Path) -> None:
    """Stop root before a stage runs in a checkout that belongs to somebody else.

    DVC itself would write its lock and cache as root, and their owner could not go on. What DVC
    has created up to here is given to the owner.

    Raises:
        InputError: root runs in another user's checkout.
    """
    owner = root.stat()
    if os.geteuid() != 0 or owner.st_uid == 0:
        return
    _give_back(root / ".dvc", owner)
    raise InputError(
        f"this checkout belongs to {_name(owner.st_uid)}, and you are root",
        where=str(root),
        expected="the checkout's owner, so that no file of root's is left behind",
        hint=f"sudo -u '#{owner.st_uid}' dvc repro, or make it root's: chown -R root {root}",
    )


def _give_back(folder: Path, owner: os.stat_result) -> None:
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place) / name
            if path.lstat().st_uid == 0:
                os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _name(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"
