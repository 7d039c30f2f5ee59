"""Too few open files are said to be too few, and not blamed on Chromium."""

import resource
from pathlib import Path

import pytest

from webassay.browser.devtools.cdp import Connection
from webassay.core.errors import BrowserError


async def test_too_few_files_are_named_before_chromium_is_started(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (64, 64))
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: None)
    with pytest.raises(BrowserError, match="At most 64 files may be open") as refused:
        await Connection.launch(Path("/nowhere/chromium"), [])
    assert "ulimit -n 4096" in refused.value.hint


async def test_a_limit_that_may_be_raised_is_raised(monkeypatch):
    raised = []
    monkeypatch.setattr(resource, "getrlimit", lambda which: (64, 1000))
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: raised.append(limits))
    with pytest.raises(BrowserError, match="started but did not answer"):
        await Connection.launch(Path("/nowhere/chromium"), [])
    assert raised == [(1000, 1000)]
