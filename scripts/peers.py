"""Environments of other projects, whose versions would fight ours. Each is made on first use and kept."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def peer_python(name: str, *requirements: str) -> Path | None:
    """The interpreter of `.venv-NAME`; None if it cannot be made, which is said."""
    folder = ROOT / f".venv-{name}"
    python = folder / "bin" / "python"
    if not python.exists():
        named = ", ".join(requirements)
        print(f"Making an environment for {named}...", flush=True)
        made = subprocess.run([sys.executable, "-m", "venv", str(folder)], check=False)
        installed = subprocess.run([str(python), "-m", "pip", "install", "-q", *requirements], check=False)
        if made.returncode or installed.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            print(f"{named} could not be installed and is skipped.")
            return None
    return python
