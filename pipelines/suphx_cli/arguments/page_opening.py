"""Opens a page in the browser of whoever has typed the command."""

from __future__ import annotations

_TEXT_BROWSERS = ("www-browser", "links", "links2", "elinks", "lynx", "w3m")
"""They would take the terminal, and run no scripts of pages."""


def open_page(address: str) -> bool:
    """Open a page; False if that fails, or if there is no browser but one of the terminal.

    It may take until the person closes the browser: a command in ``BROWSER`` is waited for.
    """
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return browser.basename not in _TEXT_BROWSERS and browser.open(address)
