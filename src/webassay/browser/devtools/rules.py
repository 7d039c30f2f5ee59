"""What a program from outside may do over DevTools.

It gets what a driver needs of its own tabs, and nothing else: no other context, no file of this machine, no answer that
a site did not give. What is not known to be harmless is refused; a refusal is an error of that command and says why.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from webassay.browser.devtools.cdp import Params
from webassay.core.errors import ActionError

Post = Callable[[Params], Params]
"""Changes what the browser answered."""


class Forbidden(Exception):
    """The command is refused; the message is for whoever wrote the program."""


class Answered(Exception):
    """The command is not passed on; this is its answer."""

    def __init__(self, result: Params) -> None:
        super().__init__()
        self.result = result


class HangUp(Exception):
    """The program has closed its browser."""


TARGET_DOMAINS = frozenset(
    (
        *(
            "Accessibility",
            "Animation",
            "Audits",
            "CSS",
            "CacheStorage",
            "Console",
            "DOM",
            "DOMDebugger",
            "DOMSnapshot",
        ),
        *("DOMStorage", "Debugger", "DeviceOrientation", "Emulation", "EventBreakpoints", "Fetch", "HeapProfiler"),
        *("IO", "IndexedDB", "Input", "Inspector", "LayerTree", "Log", "Media", "Memory", "Network", "Overlay", "Page"),
        *(
            "Performance",
            "PerformanceTimeline",
            "Profiler",
            "Runtime",
            "Schema",
            "Security",
            "ServiceWorker",
            "Storage",
        ),
        *("Target", "WebAudio", "WebAuthn"),
    )
)
"""Domains that a tab, frame or worker offers and that reach no further than itself. Some commands have rules below."""

BROWSER_METHODS = frozenset(
    (
        *("Browser.getVersion", "Browser.getWindowForTarget", "Browser.getWindowBounds", "Browser.setWindowBounds"),
        *("Browser.grantPermissions", "Browser.resetPermissions", "Browser.setPermission", "Browser.setContentsSize"),
        *(
            "Browser.setDownloadBehavior",
            "Browser.cancelDownload",
            "Browser.close",
            "Schema.getDomains",
            "Security.enable",
        ),
        *("Storage.getCookies", "Storage.setCookies", "Storage.clearCookies", "Security.setIgnoreCertificateErrors"),
    )
)
TARGET_METHODS = frozenset(
    f"Target.{name}"
    for name in (
        *("getTargets", "getTargetInfo", "createTarget", "closeTarget", "activateTarget", "attachToTarget"),
        *("detachFromTarget", "setAutoAttach", "setDiscoverTargets", "getBrowserContexts", "attachToBrowserTarget"),
    )
)
IN_CONTEXT = frozenset(name for name in BROWSER_METHODS if name.startswith("Storage.") or "ermission" in name)
"""They take a context, and mean the default one if there is none."""
FORBIDDEN: Mapping[str, str] = {
    "Fetch.fulfillRequest": "answers come from the sites; continueRequest and failRequest are allowed",
    "Network.setRequestInterception": "answers come from the sites; use Fetch.enable",
    "Network.continueInterceptedRequest": "answers come from the sites; use Fetch.enable",
    "Network.loadNetworkResource": "pages load their own resources",
    "Page.setRPHRegistrationMode": "it reaches out of the session",
    "Page.addCompilationCache": "it would run other code than the site's",
    "Page.produceCompilationCache": "it would run other code than the site's",
    "DOM.getFileInfo": "files of this machine are not part of the session",
    "Target.createBrowserContext": "the session has one context, which is the default one",
    "Target.disposeBrowserContext": "the session has one context, and it stays",
    "Storage.setStorageBucketTracking": "it reaches out of the session",
}
CHANGING = {
    "Fetch.continueRequest": ("url", "method", "postData"),
    "Fetch.continueResponse": ("responseCode", "responsePhrase", "responseHeaders", "binaryResponseHeaders"),
}
"""What a paused request may not be given."""
SCHEMES = frozenset(("http", "https", "data", "blob"))


@dataclass
class Rules:
    context: str
    """The session's browser context: the only one that the program gets to know."""
    downloads: str
    """Where files go, whatever it asks for."""
    files: Callable[[Sequence[str]], list[str]]
    """The paths of files that may be uploaded. Raises `ActionError`."""
    targets: Mapping[str, Params] = field(default_factory=dict)
    """Infos of everything in the browser."""

    def owns(self, info: Params) -> bool:
        own = info.get("browserContextId")
        return own == self.context if own else "worker" in str(info.get("type"))

    def own_targets(self) -> list[Params]:
        return [info for info in self.targets.values() if self.owns(info)]

    def check(self, method: str, params: Params, *, browser: bool) -> Post | None:
        """Raises `Forbidden`, `Answered` or `HangUp`; may change `params`. `browser`: sent to the browser itself and
        not to one of its targets."""
        if method in FORBIDDEN:
            raise Forbidden(f"{method} is refused: {FORBIDDEN[method]}.")
        domain = method.partition(".")[0]
        known = method in BROWSER_METHODS or (not browser and domain in TARGET_DOMAINS)
        if domain == "Target":
            known = method in TARGET_METHODS
        if not known:
            raise Forbidden(f"{method} is refused: it is not part of this session.")
        self._own_context(method, params)
        rule = _SPECIAL.get(method)
        return rule(self, params) if rule is not None else None

    def _own_context(self, method: str, params: Params) -> None:
        if params.get("browserContextId", self.context) != self.context:
            raise Forbidden("There is no such browser context.")
        if method in IN_CONTEXT:
            params["browserContextId"] = self.context
        target = params.get("targetId")
        if target is not None and not self.owns(self.targets.get(str(target), {})):
            raise Forbidden("No target with given id found")  # as Chromium says it


def _open_address(rules: Rules, params: Params) -> None:
    url = str(params.get("url", ""))
    scheme = urlsplit(url.strip()).scheme.lower() if ":" in url else ""
    if url.strip() not in ("", "about:blank") and scheme not in SCHEMES:
        raise Forbidden(f"{url:.200} cannot be opened: only http and https are part of this session.")


def _new_target(rules: Rules, params: Params) -> None:
    _open_address(rules, params)
    params["browserContextId"] = rules.context
    for name in ("newWindow", "hidden", "forTab"):
        params.pop(name, None)


def _attach(rules: Rules, params: Params) -> None:
    if not params.get("flatten"):
        raise Forbidden("Only flat sessions are supported: give flatten=true.")


def _auto_attach(rules: Rules, params: Params) -> None:
    if params.get("autoAttach") and not params.get("flatten"):
        raise Forbidden("Only flat sessions are supported: give flatten=true.")


def _targets(rules: Rules, params: Params) -> Post:
    return lambda result: {"targetInfos": [info for info in result.get("targetInfos", []) if rules.owns(info)]}


def _contexts(rules: Rules, params: Params) -> None:
    raise Answered({"browserContextIds": []})  # The default context, which stands for the session, is never listed.


def _download(rules: Rules, params: Params) -> None:
    told = bool(params.get("eventsEnabled"))
    params.clear()
    params.update(behavior="allowAndName", browserContextId=rules.context, downloadPath=rules.downloads)
    params["eventsEnabled"] = told


def _old_download(rules: Rules, params: Params) -> None:
    raise Answered({})


def _upload(rules: Rules, params: Params) -> None:
    params["files"] = _checked(rules, params.get("files"))


def _drag(rules: Rules, params: Params) -> None:
    data = params.get("data")
    if isinstance(data, dict) and data.get("files"):
        data["files"] = _checked(rules, data["files"])


def _checked(rules: Rules, files: object) -> list[str]:
    if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
        raise Forbidden("files must be a list of paths.")
    try:
        return rules.files(files) if files else []
    except ActionError as error:
        raise Forbidden(str(error)) from None


def _unchanged(names: Collection[str]) -> Callable[[Rules, Params], None]:
    def rule(rules: Rules, params: Params) -> None:
        if given := [name for name in names if name in params]:
            raise Forbidden(f"{given[0]} may not be changed: requests and answers are those of the page and the site.")

    return rule


def _close(rules: Rules, params: Params) -> None:
    raise HangUp


_SPECIAL: dict[str, Callable[[Rules, Params], Any]] = {
    "Page.navigate": _open_address,
    "Target.createTarget": _new_target,
    "Target.attachToTarget": _attach,
    "Target.setAutoAttach": _auto_attach,
    "Target.getTargets": _targets,
    "Target.getBrowserContexts": _contexts,
    "Browser.setDownloadBehavior": _download,
    "Page.setDownloadBehavior": _old_download,
    "DOM.setFileInputFiles": _upload,
    "Input.dispatchDragEvent": _drag,
    "Browser.close": _close,
    **{method: _unchanged(names) for method, names in CHANGING.items()},
}
