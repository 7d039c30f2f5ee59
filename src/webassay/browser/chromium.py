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
    # Without a window: enough for everything but `--headed`.
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
    """The one asked for, else one on the PATH, else one that Playwright has installed."""
    if explicit:
        path = Path(shutil.which(explicit) or explicit)
        if _usable(path):
            return path
        raise BrowserError(
            f"There is no Chromium to run at {explicit}.",
            hint="Point WEBASSAY_CHROMIUM at an executable, or unset it to have one searched for.",
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
    """Whether it can show itself at all: headless shells are built without that part."""
    return "headless" not in executable.resolve().name


def _revision(path: Path) -> int:
    digits = [part.rpartition("-")[2] for part in path.parts if part.startswith("chromium")]
    return max((int(d) for d in digits if d.isdigit()), default=0)


_FLAGS = (
    # `computedName` of elements, in every world: the name as the browser itself computes it.
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
    # Pages that are not in front must run as if they were: several tabs and contexts share one browser.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-ipc-flooding-protection",
    "--disable-back-forward-cache",
    # Headless Chromium says that it has no mouse; pages then hide what opens under one.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    # The same picture on every machine.
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--disable-smooth-scrolling",
    "--mute-audio",
    "--font-render-hinting=none",
    # Frames of other sites live in the page's own process: half the memory, one session sees them all.
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
            # The address bar's own pages, which cost every session a process.
            "WebUIOmniboxAimPopup",
            "WebUIOmniboxFullPopup",
            "WebUIOmniboxPopup",
            "site-per-process",
        )
    ),
)


def launch_flags(*, headed: bool = False) -> list[str]:
    """What Chromium needs to be driven, here: as root or in a container it has no sandbox of its own to build."""
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
