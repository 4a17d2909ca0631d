"""Requests to an API server: GET only, each with a deadline, asked again where that helps."""

import re
import time
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from threading import Event, Thread
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

import policygen
from policygen.client.access import Access

JSON = "application/json"
TRIES = 5
PAUSE_S = 0.25
"""Before the second try; each later one waits twice as long, or what Retry-After says."""
CALL_S = 60.0
"""For one answer, from the request to its last byte."""
ENCODING = "gzip"
_GZIP = 31
"""What zlib calls gzip with any window."""
MAX_ANSWER_BYTES = 1 << 30
"""Of one answer."""
_MAX_PLAIN_BYTES = 200
"""Of a refusal in plain words; longer ones are pages of a proxy."""
BEGIN = 1024
"""Bytes with which an answer has begun."""
_WHO = re.compile(r"^<?(urllib3\.\S*\.)?HTTPS?Connection\w*\([^)]*\)( object at \w+)?>?: ")
"""What urllib3 begins its messages with."""
_LINE = re.compile(r" \(_ssl\.c:\d+\)$")
"""What Python's TLS ends its messages with."""
_AGAIN = {429, 500, 502, 503, 504}


class ReadError(Exception):
    """Something could not be read; the message is one line."""


class RefusedError(ReadError):
    """The server answered, and the answer is no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Deadline(Struct, frozen=True):
    """When all must have ended, and what else ends it."""

    end: float
    """By `time.monotonic`."""
    stopped: Event

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """From now on."""
        return cls(time.monotonic() + seconds, Event())

    def left(self) -> float:
        """Seconds that are left. Raises ReadError if none are."""
        seconds = self.end - time.monotonic()
        if seconds <= 0 or self.stopped.is_set():
            raise ReadError("there was no time left")
        return seconds

    def wait(self, seconds: float) -> bool:
        """Wait that long; False at once if the time that is left is shorter."""
        return seconds < self.end - time.monotonic() and not self.stopped.wait(seconds)


class Answer(NamedTuple):
    """The body of an answer as it came; whoever reads it unpacks it."""

    content: bytes
    packed: bool

    def start(self, size: int) -> bytes:
        """Its first bytes, or fewer; none where it cannot be unpacked."""
        if not self.packed:
            return self.content[:size]
        try:
            return zlib.decompressobj(wbits=_GZIP).decompress(self.content, size)
        except zlib.error:
            return b""

    def whole(self) -> bytes:
        """All of it, at once, since other threads can run meanwhile. Raises ReadError."""
        if not self.packed:
            return self.content
        left, parts, size = self.content, [], 0
        while left:
            one = zlib.decompressobj(wbits=_GZIP)
            try:
                parts.append(one.decompress(left, MAX_ANSWER_BYTES + 1))
            except zlib.error as error:
                raise ReadError(f"the answer cannot be unpacked: {error}") from None
            size += len(parts[-1])
            _within(size)
            if not one.eof:
                raise ReadError("the answer was cut off: its packed content does not end")
            left = one.unused_data
        return b"".join(parts)


Begun = Callable[[Answer], None]
"""Hears the first bytes of an answer, once for each time that it is asked for."""


class Server:
    """An API server that is only ever asked to GET."""

    def __init__(self, access: Access, deadline: Deadline, call_s: float = CALL_S) -> None:
        self._access = access
        self._deadline = deadline
        self._call_s = call_s
        self._asked: dict[tuple[str, str], Future[Answer]] = {}
        """What was asked for ahead and nobody has fetched yet, by URL and accepted type."""

    @property
    def name(self) -> str:
        """The context under which it was reached."""
        return self._access.name

    @property
    def shown(self) -> str:
        """Its URL as it is shown."""
        return self._access.shown

    @property
    def in_cluster(self) -> bool:
        """Whether we are a pod of it."""
        return self._access.in_cluster

    @property
    def late_s(self) -> float:
        """Seconds since all must have ended; below 0 before."""
        return time.monotonic() - self._deadline.end

    def stop(self) -> None:
        """Let whatever is waiting end."""
        self._deadline.stopped.set()

    def close(self) -> None:
        """Stop, and renew nothing any more."""
        self.stop()
        self._access.close()

    def get(self, path: str, query: Mapping[str, str] | None = None, accept: str = JSON) -> bytes:
        """The body of the answer to one GET. Raises ReadError as `fetch` does."""
        return self.fetch(path, query, accept).whole()

    def fetch(
        self,
        path: str,
        query: Mapping[str, str] | None = None,
        accept: str = JSON,
        begun: Begun | None = None,
    ) -> Answer:
        """The answer to one GET; `begun` hears when it begins to come. Raises ReadError.

        Asked again: what got lost on its way, 429 and 5xx, and once with new credentials a 401.
        What was asked for with `ask` is waited for, and `begun` hears of it no more.
        """
        url = self._url(path, query)
        asked = self._asked.pop((url, accept), None)
        return asked.result() if asked else self._fetch(url, accept, begun)

    def ask(
        self,
        path: str,
        query: Mapping[str, str] | None = None,
        accept: str = JSON,
        begun: Begun | None = None,
    ) -> None:
        """Send one GET now, in a thread; who fetches it has its answer sooner, or what it raised."""
        url = self._url(path, query)
        asked = self._asked[url, accept] = Future()

        def run() -> None:
            try:
                asked.set_result(self._fetch(url, accept, begun))
            except Exception as error:  # noqa: BLE001 - raised where it is fetched
                asked.set_exception(error)

        Thread(target=run, name="policygen-asked", daemon=True).start()

    def _url(self, path: str, query: Mapping[str, str] | None) -> str:
        return f"{self._access.host}{path}{f'?{urlencode(query)}' if query else ''}"

    def _fetch(self, url: str, accept: str, begun: Begun | None) -> Answer:
        renewed = False
        for number in range(1, TRIES + 1):
            headers, renewals = self._access.credentials(
                {
                    "user-agent": f"policygen/{policygen.__version__}",
                    "accept-encoding": ENCODING,
                    "accept": accept,
                }
            )
            try:
                status, fields, answer = self._once(url, headers, begun)
            except _LostError as error:
                if number == TRIES or not self._deadline.wait(_pause(number)):
                    raise ReadError(f"{error} ({_times(number)})") from None
                continue
            if status == 401 and not renewed:
                renewed = True
                self._access.renew(renewals)
                continue
            pause = max(_pause(number), retry_after(fields))
            if status in _AGAIN and number < TRIES and self._deadline.wait(pause):
                continue
            return _checked(status, fields, answer)
        raise ReadError(f"the answer was no other after {_times(TRIES)}")

    def _once(
        self, url: str, headers: Mapping[str, str], begun: Begun | None
    ) -> tuple[int, Mapping[str, str], Answer]:
        import urllib3  # noqa: PLC0415 - what reaches a cluster is imported when one is reached

        seconds = min(self._call_s, self._deadline.left())
        end = time.monotonic() + seconds
        try:
            response = self._access.pool.request(
                "GET",
                url,
                headers=headers,
                preload_content=False,
                redirect=False,
                retries=False,
                timeout=urllib3.Timeout(connect=min(10.0, seconds), read=seconds),
            )
        except urllib3.exceptions.ReadTimeoutError:
            raise ReadError(f"no answer came in {seconds:.0f} s") from None
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if _stays(error):
                raise ReadError(_reason(error)) from None
            raise _LostError(_reason(error)) from None
        try:
            answer = self._answer(response, end, begun if response.status == 200 else None)
        except urllib3.exceptions.ReadTimeoutError:
            response.close()
            raise ReadError(f"the answer was not whole after {seconds:.0f} s") from None
        except (urllib3.exceptions.HTTPError, OSError) as error:
            response.close()
            raise _LostError(f"the answer was cut off: {_reason(error)}") from None
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return response.status, response.headers, answer

    def _answer(self, response: Any, end: float, begun: Begun | None) -> Answer:
        packed = response.headers.get("content-encoding", "").strip().lower()
        if packed not in {"", "identity", ENCODING}:
            raise ReadError(f"the answer is packed as {packed}, which nobody asked for")
        parts, size = [], 0
        while part := response.read1(1 << 20, decode_content=False):  # no more than has come
            parts.append(part)
            size += len(part)
            _within(size)
            if time.monotonic() > end:
                raise ReadError("the answer came too slowly")
            if begun is not None:
                so_far = Answer(b"".join(parts), packed == ENCODING)
                if len(so_far.start(BEGIN)) == BEGIN:
                    begun(so_far)
                    begun = None
        return Answer(b"".join(parts), packed == ENCODING)


def _within(size: int) -> None:
    if size > MAX_ANSWER_BYTES:
        raise ReadError(f"the answer has more than {MAX_ANSWER_BYTES >> 20} MiB")


class _LostError(Exception):
    """A request or its answer got lost; asking again may help."""


def _checked(status: int, fields: Mapping[str, str], answer: Answer) -> Answer:
    if status != 200:
        raise RefusedError(status, _message(status, fields, answer.whole()))
    kind = fields.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise ReadError(
            f"the answer is {kind or 'of no type'}, and not JSON; is a proxy in between?"
        )
    return answer


def _message(status: int, fields: Mapping[str, str], body: bytes) -> str:
    """What a Status says, or a short plain text, on one line."""
    try:
        said = msgspec.json.decode(body, type=_Status).message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Go names no type where it refuses what is no HTTP, or no HTTPS.
        is_plain = fields.get("content-type", "text/plain").startswith("text/plain")
        is_plain = is_plain and len(body) <= _MAX_PLAIN_BYTES
        said = body.decode("utf-8", "replace") if is_plain else ""
    words = " ".join(said.split()).removeprefix(f"{status} ")
    return f"{status}: {words}" if words else f"the server answered {status}"


class _Status(Struct):
    message: str = ""


def retry_after(fields: Mapping[str, str]) -> float:
    """Seconds from now; load balancers send a date (RFC 9110, 10.2.3). What is neither counts as none."""
    import urllib3  # noqa: PLC0415 - what reaches a cluster is imported when one is reached

    text = fields.get("retry-after", "")
    try:
        return urllib3.Retry().parse_retry_after(text) if text else 0.0
    except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
        return 0.0


def _times(number: int) -> str:
    return "asked once" if number == 1 else f"asked {number} times"


def _pause(number: int) -> float:
    return float(PAUSE_S * 2 ** (number - 1))


def _stays(error: Exception) -> bool:
    """Whether asking again can't help: an URL that is none, or TLS that the two don't agree on."""
    import ssl  # noqa: PLC0415 - what reaches a cluster is imported when one is reached

    import urllib3  # noqa: PLC0415 - likewise

    if isinstance(error, urllib3.exceptions.LocationValueError):
        return True
    inner = error.args[0] if isinstance(error, urllib3.exceptions.SSLError) else error
    cut = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
    return isinstance(inner, ssl.SSLError) and not isinstance(inner, cut)


def _reason(error: Exception) -> str:
    """The innermost of what urllib3 says, on one line."""
    inner: BaseException = error
    while isinstance(reason := getattr(inner, "reason", None), BaseException):
        inner = reason
    text = _LINE.sub("", _WHO.sub("", " ".join(str(inner).split())))
    return text or type(inner).__name__
