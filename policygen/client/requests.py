"""Requests to an API server: only GET, each with a deadline, repeated after temporary errors."""

import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

import policygen
from policygen.client.access import Access
from policygen.core.decoding import decode
from policygen.core.quoting import counted

JSON = "application/json"
TRIES = 5
PAUSE_S = 0.25
"""Pause before the second try. Each later pause is twice as long, or as long as in Retry-After."""
CALL_S = 60.0
"""Time limit of one answer, from the request to its last byte."""
ENCODING = "gzip"
_GZIP = 31
"""The wbits value of zlib for gzip with any window."""
MAX_ANSWER_BYTES = 1 << 30
"""The largest answer."""
_MAX_PLAIN_BYTES = 200
"""The largest refusal as plain text; longer texts are pages of a proxy."""
BEGIN = 1024
"""The number of bytes after which `on_begin` is called."""
_CONNECTION = re.compile(r"^<?(urllib3\.\S*\.)?HTTPS?Connection\w*\([^)]*\)( object at \w+)?>?: ")
"""The beginning of urllib3's messages."""
_LINE = re.compile(r" \(_ssl\.c:\d+\)$")
"""The end of messages of Python's TLS."""
_SWITCH_INTERVAL_S = 0.0005
_TEMPORARY = {429, 500, 502, 503, 504}


class ReadError(Exception):
    """Something could not be read; the message is one line."""


class RefusedError(ReadError):
    """The server refused the request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Deadline(Struct, frozen=True):
    """The time at which all requests must end, and an event that ends them earlier."""

    end: float
    """In seconds of `time.monotonic`."""
    stopped: Event

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """A deadline that many seconds from now."""
        return cls(time.monotonic() + seconds, Event())

    def left(self) -> float:
        """The remaining seconds. Raises ReadError if the time is over."""
        seconds = self.end - time.monotonic()
        if seconds <= 0 or self.stopped.is_set():
            raise ReadError("the time limit was reached; raise --timeout")
        return seconds

    def wait(self, seconds: float) -> bool:
        """Wait that long. Returns False at once if the remaining time is shorter."""
        return seconds < self.end - time.monotonic() and not self.stopped.wait(seconds)


class Answer(NamedTuple):
    """The body of an answer as it arrived; the reader unpacks it."""

    content: bytes
    packed: bool

    def start(self, size: int) -> bytes:
        """Up to `size` of its first bytes; empty if it cannot be unpacked."""
        if not self.packed:
            return self.content[:size]
        try:
            return zlib.decompressobj(wbits=_GZIP).decompress(self.content, size)
        except zlib.error:
            return b""

    def whole(self) -> bytes:
        """The complete body, unpacked in one step so that other threads can run. Raises ReadError."""
        if not self.packed:
            return self.content
        left, parts, size = self.content, [], 0
        while left:
            one = zlib.decompressobj(wbits=_GZIP)
            try:
                parts.append(one.decompress(left, MAX_ANSWER_BYTES + 1))
            except zlib.error as error:
                raise ReadError(f"the answer cannot be decompressed: {error}") from None
            size += len(parts[-1])
            _within(size)
            if not one.eof:
                raise ReadError("the answer was truncated: its compressed content is incomplete")
            left = one.unused_data
        return b"".join(parts)


OnBegin = Callable[[Answer], None]
"""Is called with the first bytes of an answer, once for each request."""


class Server:
    """An API server that receives only GET requests."""

    def __init__(self, access: Access, deadline: Deadline, call_s: float = CALL_S) -> None:
        self.access = access
        self._deadline = deadline
        self._call_s = call_s
        self._early: dict[tuple[str, str], Future[Answer]] = {}
        """Requests sent ahead whose answer was not fetched yet, by URL and accepted type."""

    @property
    def late_s(self) -> float:
        """Seconds since the deadline; negative before it."""
        return time.monotonic() - self._deadline.end

    def stop(self) -> None:
        """End everything that waits."""
        self._deadline.stopped.set()

    def close(self) -> None:
        """Stop, and renew no credentials any more."""
        self.stop()
        self.access.close()

    def get(self, path: str, query: Mapping[str, str] | None = None, accept: str = JSON) -> bytes:
        """The body of the answer to one GET. Raises ReadError as `fetch` does."""
        return self.fetch(path, query, accept).whole()

    def fetch(
        self,
        path: str,
        query: Mapping[str, str] | None = None,
        accept: str = JSON,
        on_begin: OnBegin | None = None,
    ) -> Answer:
        """The answer to one GET. `on_begin` is called when it starts to arrive. Raises ReadError.

        Repeats the request after a lost connection, 429 and 5xx, and once with new credentials
        after 401. If `fetch_early` already sent it, waits for that answer and does not call `on_begin`.
        """
        url = self._url(path, query)
        early = self._early.pop((url, accept), None)
        return early.result() if early else self._fetch(url, accept, on_begin)

    def fetch_early(
        self,
        path: str,
        query: Mapping[str, str] | None = None,
        accept: str = JSON,
        on_begin: OnBegin | None = None,
    ) -> None:
        """Send one GET now, in a thread, so that `fetch` has its answer or error sooner."""
        url = self._url(path, query)
        early = self._early[url, accept] = Future()

        def run() -> None:
            try:
                early.set_result(self._fetch(url, accept, on_begin))
            except Exception as error:  # noqa: BLE001 - raised where it is fetched
                early.set_exception(error)

        Thread(target=run, name="policygen-early", daemon=True).start()

    def _url(self, path: str, query: Mapping[str, str] | None) -> str:
        return f"{self.access.host}{path}{f'?{urlencode(query)}' if query else ''}"

    def _fetch(self, url: str, accept: str, on_begin: OnBegin | None) -> Answer:
        renewed = False
        for number in range(1, TRIES + 1):
            headers, renewals = self.access.credentials(
                {
                    "user-agent": f"policygen/{policygen.__version__}",
                    "accept-encoding": ENCODING,
                    "accept": accept,
                }
            )
            try:
                status, fields, answer = self._once(url, headers, on_begin)
            except _LostError as error:
                if number == TRIES or not self._deadline.wait(_pause(number)):
                    raise ReadError(f"{error} ({counted(number, 'request')})") from None
                continue
            if status == 401 and not renewed:
                renewed = True
                self.access.renew(renewals)
                continue
            pause = max(_pause(number), retry_after(fields))
            if status in _TEMPORARY and number < TRIES and self._deadline.wait(pause):
                continue
            return _checked(status, fields, answer)
        raise ReadError(
            f"the server still refused the credentials after {counted(TRIES, 'request')}"
        )

    def _once(
        self, url: str, headers: Mapping[str, str], on_begin: OnBegin | None
    ) -> tuple[int, Mapping[str, str], Answer]:
        import urllib3  # noqa: PLC0415 - what reaches a cluster is imported when one is reached

        seconds = min(self._call_s, self._deadline.left())
        end = time.monotonic() + seconds
        try:
            response = self.access.pool.request(
                "GET",
                url,
                headers=headers,
                preload_content=False,
                redirect=False,
                retries=False,
                timeout=urllib3.Timeout(connect=min(10.0, seconds), read=seconds),
            )
        except urllib3.exceptions.ReadTimeoutError:
            raise ReadError(f"no answer within {seconds:.0f} s") from None
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if _is_permanent(error):
                raise ReadError(_reason(error)) from None
            raise _LostError(_reason(error)) from None
        try:
            answer = self._answer(response, end, on_begin if response.status == 200 else None)
        except urllib3.exceptions.ReadTimeoutError:
            response.close()
            raise ReadError(f"the answer was not complete after {seconds:.0f} s") from None
        except (urllib3.exceptions.HTTPError, OSError) as error:
            response.close()
            raise _LostError(f"the answer was truncated: {_reason(error)}") from None
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return response.status, response.headers, answer

    def _answer(self, response: Any, end: float, on_begin: OnBegin | None) -> Answer:
        packed = response.headers.get("content-encoding", "").strip().lower()
        if packed not in {"", "identity", ENCODING}:
            raise ReadError(
                f"the answer has the encoding {packed}, which policygen did not request"
            )
        parts, size = [], 0
        while part := response.read1(1 << 20, decode_content=False):  # only what has arrived
            parts.append(part)
            size += len(part)
            _within(size)
            if time.monotonic() > end:
                raise ReadError("the answer arrived too slowly")
            if on_begin is not None:
                so_far = Answer(b"".join(parts), packed == ENCODING)
                if len(so_far.start(BEGIN)) == BEGIN:
                    on_begin(so_far)
                    on_begin = None
        return Answer(b"".join(parts), packed == ENCODING)


@contextmanager
def short_switch_interval() -> Iterator[None]:
    """Shorten Python's switch interval, so that I/O threads do not wait for threads that decode."""
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before_s)


def _within(size: int) -> None:
    if size > MAX_ANSWER_BYTES:
        raise ReadError(
            f"the answer is larger than {MAX_ANSWER_BYTES >> 20} MiB, the limit of policygen"
        )


class _LostError(Exception):
    """A request or its answer was lost; a repetition can help."""


def _checked(status: int, fields: Mapping[str, str], answer: Answer) -> Answer:
    if status != 200:
        raise RefusedError(status, _message(status, fields, answer.whole()))
    kind = fields.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise ReadError(
            f"the answer is {kind or 'of unknown type'}, not JSON; check whether a proxy answers "
            "instead of the API server"
        )
    return answer


def _message(status: int, fields: Mapping[str, str], body: bytes) -> str:
    """The message of a Status, or a short plain text, on one line."""
    try:
        reason = decode(body, _ErrorStatus).message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Go sends no content type if the request is not HTTP, or not HTTPS.
        is_plain = fields.get("content-type", "text/plain").startswith("text/plain")
        is_plain = is_plain and len(body) <= _MAX_PLAIN_BYTES
        reason = body.decode("utf-8", "replace") if is_plain else ""
    words = " ".join(reason.split()).removeprefix(f"{status} ")
    return f"{status}: {words}" if words else f"the server answered {status}"


class _ErrorStatus(Struct):
    message: str = ""


def retry_after(fields: Mapping[str, str]) -> float:
    """Seconds from now, also for a date (RFC 9110, 10.2.3). 0 if missing or invalid."""
    import urllib3  # noqa: PLC0415 - what reaches a cluster is imported when one is reached

    text = fields.get("retry-after", "")
    try:
        return urllib3.Retry().parse_retry_after(text) if text else 0.0
    except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
        return 0.0


def _pause(number: int) -> float:
    return float(PAUSE_S * 2 ** (number - 1))


def _is_permanent(error: Exception) -> bool:
    """Whether a repetition cannot help: an invalid URL, or TLS settings that do not match."""
    import ssl  # noqa: PLC0415 - what reaches a cluster is imported when one is reached

    import urllib3  # noqa: PLC0415 - likewise

    if isinstance(error, urllib3.exceptions.LocationValueError):
        return True
    inner = error.args[0] if isinstance(error, urllib3.exceptions.SSLError) else error
    cut = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
    return isinstance(inner, ssl.SSLError) and not isinstance(inner, cut)


def _reason(error: Exception) -> str:
    """The innermost message of an error of urllib3, on one line."""
    inner: BaseException = error
    while isinstance(reason := getattr(inner, "reason", None), BaseException):
        inner = reason
    text = _LINE.sub("", _CONNECTION.sub("", " ".join(str(inner).split())))
    return text or type(inner).__name__
