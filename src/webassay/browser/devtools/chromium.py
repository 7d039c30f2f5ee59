"""Which Chromium to start, and with which flags."""

import os
import shutil
import sys
from pathlib import Path

from webassay.core.errors import BrowserError

_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    # Cannot show a window: enough for everything except `--headed`.
    "chromium-headless-shell",
    "chrome-headless-shell",
)
_MAC_APPS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_PLAYWRIGHT_PATTERNS = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    "chromium_headless_shell-*/chrome-*/headless_shell",
    "chromium_headless_shell-*/chrome-*/chrome-headless-shell",
)


def _usable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _playwright_folder() -> Path:
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "ms-playwright"


def find_chromium(explicit: str | None = None) -> Path:
    """The one asked for, else one on the PATH, else one that Playwright installed."""
    if explicit:
        path = Path(shutil.which(explicit) or explicit)
        if _usable(path):
            return path
        raise BrowserError(
            f"There is no executable Chromium at {explicit}.",
            hint="Point WEBASSAY_CHROMIUM at one, or unset it to search for one.",
        )
    tried: list[str] = []
    for name in _NAMES:
        if found := shutil.which(name):
            return Path(found)
        tried.append(f"{name} on the PATH")
    if sys.platform == "darwin":
        for app in _MAC_APPS:
            if _usable(Path(app)):
                return Path(app)
            tried.append(app)
    folder = _playwright_folder()
    for pattern in _PLAYWRIGHT_PATTERNS:
        # The newest revision: the number in the folder's name decides, not the alphabet.
        for path in sorted(folder.glob(pattern), key=_revision, reverse=True):
            if _usable(path):
                return path
        tried.append(str(folder / pattern))
    raise BrowserError(
        f"No Chromium was found. Tried: {'; '.join(tried)}.",
        hint="Install one (`apt install chromium`, or `playwright install chromium`), or set WEBASSAY_CHROMIUM.",
    )


def has_window(executable: Path) -> bool:
    """Headless shells are built without the part that shows a window."""
    return "headless" not in executable.resolve().name


def _revision(path: Path) -> int:
    digits = [part.rpartition("-")[2] for part in path.parts if part.startswith("chromium")]
    return max((int(d) for d in digits if d.isdigit()), default=0)


_FLAGS = (
    # Gives elements a `computedName`: the accessible name as the browser computes it.
    "--enable-blink-features=ComputedAccessibilityInfo",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-extensions",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-search-engine-choice-screen",
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-notifications",
    "--disable-domain-reliability",
    "--metrics-recording-only",
    "--no-pings",
    # Peer connections send datagrams past the session's proxy, and so past its allowed hosts.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # Pages in the background must run at full speed: several tabs and contexts share one browser.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-back-forward-cache",
    # Headless Chromium claims to have no mouse, and pages then hide what opens on hover.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    # The same picture on every machine.
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--disable-smooth-scrolling",
    "--mute-audio",
    "--font-render-hinting=none",
    # Keep frames of other sites in the page's process: half the memory, and one session sees them all.
    "--disable-site-isolation-trials",
    "--disable-features="
    + ",".join(
        (
            "AcceptCHFrame",
            "AutofillServerCommunication",
            "CertificateTransparencyComponentUpdater",
            "DestroyProfileOnBrowserClose",
            "DialMediaRouteProvider",
            "GlobalMediaControls",
            "HttpsUpgrades",
            "IsolateOrigins",
            "IsolateSandboxedIframes",
            "MediaRouter",
            "OptimizationHints",
            "PreloadTopChromeWebUI",
            "PaintHolding",
            "Translate",
            # Pages behind the address bar, which cost every session a process.
            "WebUIOmniboxAimPopup",
            "WebUIOmniboxFullPopup",
            "WebUIOmniboxPopup",
            "site-per-process",
        )
    ),
)


def launch_flags(*, headed: bool = False) -> list[str]:
    """The flags for this machine: as root or in a container, Chromium cannot build its sandbox."""
    flags = list(_FLAGS)
    if not headed:
        flags += ["--headless", "--disable-gpu"]
    if _without_sandbox():
        flags.append("--no-sandbox")
    if _small_shared_memory():
        flags.append("--disable-dev-shm-usage")
    return flags


def _without_sandbox() -> bool:
    if sys.platform != "linux":
        return False
    if os.geteuid() == 0:
        return True
    return Path("/.dockerenv").exists() or Path("/run/.containerenv").exists() or _namespaces_forbidden()


def _namespaces_forbidden() -> bool:
    """Debian and Ubuntu can forbid user namespaces, without which Chromium's sandbox does not start."""
    for knob, forbidden in (
        ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
        ("/proc/sys/user/max_user_namespaces", "0"),
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
    ):
        path = Path(knob)
        if path.exists() and path.read_text(encoding="ascii").strip() == forbidden:
            return True
    return False


def _small_shared_memory() -> bool:
    if sys.platform != "linux":
        return False
    try:
        stats = os.statvfs("/dev/shm")
    except OSError:
        return True
    return stats.f_frsize * stats.f_blocks < 512 * 1024 * 1024
