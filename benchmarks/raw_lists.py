"""The peer of a live lint: downloads lists page by page and looks at nothing but their continue.

    python benchmarks/raw_lists.py REQUESTS

REQUESTS is a JSON file that `lint_live.py` writes: where the server is, who we are, and what to
get, in the order in which lint begins. Prints how many bytes came, unpacked.
"""

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3

TOKEN = re.compile(rb'"continue":"([^"]+)"')
HEAD = 4096
"""Bytes in which a list's metadata is: it comes before the items."""


def main() -> None:
    """Get all, as many at a time as lint does."""
    given = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    pool = urllib3.PoolManager(ca_certs=given["ca"], maxsize=given["workers"])
    headers = {"authorization": f"Bearer {given['token']}", "accept-encoding": given["encoding"]}

    def download(it: dict[str, Any]) -> int:
        size, query = 0, dict(it["query"])
        while True:
            url = f"{given['host']}{it['path']}?{urlencode(query)}"
            answer = pool.request("GET", url, headers={**headers, "accept": it["accept"]})
            assert answer.status == 200, answer.data
            size += len(answer.data)
            token = TOKEN.search(answer.data, 0, HEAD) if "limit" in query else None
            if token is None:
                return size
            query["continue"] = token[1].decode()

    with ThreadPoolExecutor(given["workers"]) as workers:
        print(sum(workers.map(download, given["requests"])))


if __name__ == "__main__":
    main()
