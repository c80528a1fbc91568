import hashlib
from pathlib import Path

import pytest

from memrepro.sources.sums import update_sums

TEXT = b"one\ntwo\nthree\n"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def source(name: str = "a", data: bytes = TEXT, origins: tuple[str, ...] = (), **more: str) -> str:
    fields = {
        "name": name, "dataset": "full", "group": "g", "path": f"box/{name}.txt",
        "sha256": sha(data), "licence": "MIT", "citation": "arXiv:0", **more,
    }  # fmt: skip
    lines = [f'{key} = "{value}"' for key, value in fields.items()]
    listed = ", ".join(f'"{origin}"' for origin in origins or ("/nowhere/at/all",))
    return "\n".join(
        ["[[source]]", *lines, "required = true", f"size = {len(data)}", f"origins = [{listed}]\n"]
    )


def write_pins(root: Path, *tables: str) -> None:
    (root / "data").mkdir(exist_ok=True)
    (root / "data/sources.toml").write_text("\n".join(tables), "utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project: one fetched file, two sample files, a prompt, and their sums."""
    write_pins(tmp_path, source())
    for file, data in {
        "data/raw/box/a.txt": TEXT,
        "data/sample/x.jsonl": b'{"a":1}\n{"a":2}\n',
        "data/sample/y/z.json": b"{}\n",
        "prompts/inmind/role.txt": b"Say so.\nPlease.\n",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(data)
    update_sums(tmp_path)
    return tmp_path
