"""Where the project is: found from the working directory upwards."""

from pathlib import Path

from memrepro.errors import InputError


def find_root() -> Path:
    """The nearest folder from the working directory upwards that holds `data/sources.toml`.

    Raises:
        InputError: there is none.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "data" / "sources.toml").is_file() or (
            (folder / "dvc.yaml").is_file()
            and (folder / "params.yaml").is_file()
            and (folder / "full").is_dir()  # full/ itself has both files as well
        ):
            return folder
    raise InputError(
        "not inside a memrepro project",
        where=str(here),
        expected="a folder with data/sources.toml, here or above",
        hint="cd into a clone of memrepro",
    )
