import errno
import http.server
import shutil
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memrepro.errors import ServiceError
from memrepro.sources.fetch import fetch

from .conftest import TEXT, sha, source, write_pins


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"wrong\n" if "wrong" in self.path else TEXT
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:4] if "cut" in self.path else body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_address[1]}"
        httpd.shutdown()
        thread.join()


def got(root: Path) -> bytes:
    assert not (root / "data/raw/.partial").exists()
    return (root / "data/raw/box/a.txt").read_bytes()


def assert_nothing(root: Path) -> None:
    assert not [path for path in (root / "data/raw").rglob("*") if path.is_file()]


def test_from_folder_mirror_and_then_not_again(tmp_path: Path) -> None:
    (tmp_path / "m/box").mkdir(parents=True)
    (tmp_path / "m/box/a.txt").write_bytes(TEXT)
    write_pins(tmp_path, source())
    (first,) = fetch(tmp_path, mirror=str(tmp_path / "m"))
    assert first.origin and got(tmp_path) == TEXT
    (second,) = fetch(tmp_path)
    assert second.origin is None


def test_from_url_mirror(tmp_path: Path, server: str) -> None:
    write_pins(tmp_path, source())
    fetch(tmp_path, mirror=server + "/")
    assert got(tmp_path) == TEXT


@pytest.mark.parametrize("bad", ["wrong", "cut"])
def test_next_origin_after_a_bad_one(tmp_path: Path, server: str, bad: str) -> None:
    write_pins(tmp_path, source(origins=(f"{server}/{bad}", f"{server}/right")))
    (result,) = fetch(tmp_path)
    assert got(tmp_path) == TEXT and bad in result.refused[0]


@pytest.mark.parametrize("bad", ["wrong", "cut"])
def test_bad_download_is_named_and_not_kept(tmp_path: Path, server: str, bad: str) -> None:
    write_pins(tmp_path, source(origins=(f"{server}/{bad}", "http://127.0.0.1:1/refused")))
    with pytest.raises(ServiceError) as caught:
        fetch(tmp_path)
    text = str(caught.value)
    assert caught.value.exit_code == 5
    assert "a (data/raw/box/a.txt)" in text and f"/{bad}" in text and "127.0.0.1:1" in text
    if bad == "wrong":
        assert sha(TEXT) in text and sha(b"wrong\n") in text and "discarded" in text
    assert_nothing(tmp_path)


def test_wrong_file_stays_until_the_right_one_is_there(tmp_path: Path, server: str) -> None:
    old = tmp_path / "data/raw/box/a.txt"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"old")
    write_pins(tmp_path, source(origins=(f"{server}/wrong",)))
    with pytest.raises(ServiceError):
        fetch(tmp_path)
    assert old.read_bytes() == b"old"
    fetch(tmp_path, mirror=server)
    assert old.read_bytes() == TEXT


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_full_or_read_only_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def half(_: str, target: str) -> None:
        Path(target).write_bytes(TEXT[:2])
        raise OSError(code, "no room")

    write_pins(tmp_path, source())
    monkeypatch.setattr("shutil.copyfile", half)
    with pytest.raises(ServiceError, match="no room") as caught:
        fetch(tmp_path, mirror=str(tmp_path))
    assert "then run the same command again" in (caught.value.hint or "")
    assert_nothing(tmp_path)


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    write_pins(tmp_path, source())
    (tmp_path / "data/raw").write_text("in the way")
    with pytest.raises(ServiceError, match="cannot be written"):
        fetch(tmp_path)


def make_zip(path: Path) -> bytes:
    with zipfile.ZipFile(path, "w") as box:
        box.writestr("in/a.txt", TEXT)
    return path.read_bytes()


@pytest.mark.parametrize("member", ["in/a.txt", "in/b.txt"])
def test_member_of_an_archive(tmp_path: Path, member: str) -> None:
    archive = tmp_path / "box.zip"
    digest = sha(make_zip(archive))
    write_pins(tmp_path, source(origins=(f"{archive}#{member}",), archive_sha256=digest))
    if member == "in/a.txt":
        fetch(tmp_path)
        assert got(tmp_path) == TEXT
    else:
        with pytest.raises(ServiceError, match=r"in/b\.txt"):
            fetch(tmp_path)
        assert_nothing(tmp_path)


@pytest.mark.parametrize(
    ("member", "told"), [("in/a.txt", None), ("in", "in is no file"), ("in/b.txt", "not found")]
)
def test_member_of_a_tar_archive(tmp_path: Path, member: str, told: str | None) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_bytes(TEXT)
    archive = tmp_path / "box.tar.gz"
    with tarfile.open(archive, "w:gz") as box:
        box.add(tmp_path / "in", "in")
    origins = (f"{archive}#{member}",)
    write_pins(tmp_path, source(origins=origins, archive_sha256=sha(archive.read_bytes())))
    if told is None:
        fetch(tmp_path)
        assert got(tmp_path) == TEXT
    else:
        with pytest.raises(ServiceError, match=told):
            fetch(tmp_path)
        assert_nothing(tmp_path)


def test_a_pin_whose_size_is_wrong_is_not_fulfilled(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT)
    pin = source(origins=(str(tmp_path / "a.txt"),)).replace("size = 14", "size = 15")
    write_pins(tmp_path, pin)
    with pytest.raises(ServiceError, match="expected 15 bytes, got 14; discarded"):
        fetch(tmp_path)
    assert_nothing(tmp_path)


def test_what_pip_says_is_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter(["ERROR: a\nERROR: No matching distribution found for w==1\n", ""])

    def pip(*_: Any, **__: Any) -> Any:
        return type("Done", (), {"returncode": 1, "stderr": next(said)})

    monkeypatch.setattr("subprocess.run", pip)
    write_pins(tmp_path, source(origins=("pypi:w==1#in/a.txt", "pypi:w==1#in/a.txt")))
    with pytest.raises(ServiceError) as caught:
        fetch(tmp_path)
    assert "pip download: ERROR: No matching distribution found for w==1" in str(caught.value)
    assert "pip download: no wheel" in str(caught.value)
    assert_nothing(tmp_path)


def test_wheel_by_pip_and_its_own_pin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "w-1-py3-none-any.whl"
    digest = sha(make_zip(wheel))

    def pip(command: list[str], **_: Any) -> Any:
        assert command[1:4] == ["-m", "pip", "download"] and command[-1] == "w==1"
        shutil.copy(wheel, command[command.index("-d") + 1])
        return type("Done", (), {"returncode": 0, "stderr": ""})

    monkeypatch.setattr("subprocess.run", pip)
    write_pins(tmp_path, source(origins=("pypi:w==1#in/a.txt",), archive_sha256="0" * 64))
    with pytest.raises(ServiceError, match=digest):
        fetch(tmp_path)
    assert_nothing(tmp_path)
    write_pins(tmp_path, source(origins=("pypi:w==1#in/a.txt",), archive_sha256=digest))
    fetch(tmp_path)
    assert got(tmp_path) == TEXT
