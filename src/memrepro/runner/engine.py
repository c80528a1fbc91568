"""The container engine, Docker or Podman: whether it answers, and how it is asked."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any, Literal

from memrepro.errors import ServiceError

ENGINE = "MEMREPRO_ENGINE"
_TIMEOUT = 60.0
_HOST_INSTEAD = "MEMREPRO_RUNNER=host dvc repro"


@dataclass(frozen=True)
class Engine:
    """A client program that answered, and what stands behind it."""

    client: str
    kind: Literal["docker", "podman"]
    version: str

    def ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one short command of the engine; its exit code is the caller's to read."""
        return _ask(self.client, *arguments)

    @property
    def maps_user(self) -> bool:
        """Whether the container's user is, seen from the host, who runs it: rootless Podman."""
        return self.kind == "podman" and os.geteuid() != 0

    @property
    def arguments(self) -> list[str]:
        """What only Podman needs in `run`.

        Where SELinux is on it would refuse the host's files, which carry no container's label; it
        would add writable folders of its own to a read-only root; and without root it gives the
        fixed user another id outside.
        """
        if self.kind == "docker":
            return []
        mapped = ["--userns=keep-id:uid=65532,gid=65532"] if self.maps_user else []
        return ["--security-opt=label=disable", "--read-only-tmpfs=false", *mapped]


def find_engine() -> Engine:
    """The engine of `MEMREPRO_ENGINE` (a client's name or path), else Docker, else Podman.

    Raises:
        ServiceError: there is none, it does not answer, or this user may not talk to it.
    """
    asked = os.environ.get(ENGINE)
    clients = [asked] if asked else ["docker", "podman"]
    found = [client for client in clients if shutil.which(client)]
    if not found:
        raise ServiceError(
            "no container engine is installed",
            where=ENGINE if asked else None,
            expected=" or ".join(clients) + " on the PATH",
            hint=f"install Docker or Podman, or run without containers: {_HOST_INSTEAD}",
        )
    refusals = []
    for client in found:
        result = _ask(client, "version", "--format", "{{json .}}")
        if result.returncode == 0:
            return _engine(client, json.loads(result.stdout))
        refusals.append(_refusal(client, result.stderr))
    raise refusals[0]


def _ask(client: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [client, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        raise ServiceError(
            f"{client} did not answer within {_TIMEOUT:.0f} s",
            where=f"{client} {arguments[0]}",
            hint=f"restart the engine, or run without containers: {_HOST_INSTEAD}",
        ) from None
    except OSError as error:
        raise ServiceError(f"{client} cannot be run: {error.strerror}") from None


def _engine(client: str, versions: dict[str, Any]) -> Engine:
    """Told apart by a field that only Podman's client has, whatever the program is called."""
    program, server = versions["Client"], versions.get("Server")
    return Engine(
        client=client,
        kind="podman" if "OsArch" in program else "docker",
        version=(server or program)["Version"],
    )


def _refusal(client: str, stderr: str) -> ServiceError:
    said = stderr.strip().splitlines()
    if "permission denied" in stderr.lower():
        return ServiceError(
            f"this user may not talk to {client}",
            found=said[-1],
            hint=f"sudo usermod -aG docker $USER and log in again, or {_HOST_INSTEAD}",
        )
    return ServiceError(
        f"{client} is installed, but its engine does not answer",
        found=said[-1] if said else "no message",
        hint=f"start it (sudo systemctl start docker), or {_HOST_INSTEAD}",
    )
