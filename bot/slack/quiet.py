"""Arguments by which nothing that we post pings, links or unfolds by itself."""

from typing import Any

UNLINKED: dict[str, Any] = {"parse": "none", "link_names": False}
QUIET: dict[str, Any] = {**UNLINKED, "unfurl_links": False, "unfurl_media": False}
