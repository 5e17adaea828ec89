# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads remotes in folders and on web servers (docs/formats/remote.md). A fault of a server is a miss; an invalid setting is an error. Only
the native module supports Redis and S3."""

from __future__ import annotations

import base64
import os
import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from urllib.parse import unquote, urlsplit

from . import zstd
from .files import fail, sha256, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOST_RECORD = 1 << 20
MOST_PARTS = 4096
MOST_SIGNATURES = 16
MOST_PART = 256 << 20
MOST_ENTRY = 512 << 20
MOST_UNPACKED = 128 << 20  # bytes of all compressed parts of an entry, since Python sets no limit of memory
# An entry may take one `timeout` and _SECONDS, and _SECONDS_PER_MIB more for each MiB that travelled: Python alone unpacks about 2 MB a second.
_SECONDS = 2.0
_SECONDS_PER_MIB = 4.0
_FIRST_LINE = "smelt-entry 1"
_DURATIONS = {"connect": 0.3, "stall": 0.5, "timeout": 5.0, "budget": 1.0, "rest": 60.0, "remember-misses": 30.0, "ttl": 0.0}
_TEXTS = ("token-file", "ca-file", "cert-file", "key-file", "proxy", "prefix", "region", "endpoint")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


class RecordPart(NamedTuple):
    name: str
    bytes: int
    sha256: str
    codec: str
    blob_bytes: int
    blob: str


class Record(NamedTuple):
    key: str
    made_from: str
    cost_us: int
    parts: tuple[RecordPart, ...]
    signatures: tuple[str, ...]

    @property
    def statement(self) -> bytes:
        """The bytes that signatures of the record sign. They do not include the compression, which a server may change."""
        return "".join(_lines(self, False)).encode()


def _lines(record: Record, with_blobs: bool) -> Iterable[str]:
    yield f"{_FIRST_LINE}\nkey {record.key}\nmade-from{' ' if record.made_from else ''}{record.made_from}\n"
    if with_blobs:
        yield f"cost {record.cost_us}\n"
    for part in record.parts:
        yield f"part {part.bytes} {part.sha256} {part.name}\n"
        if with_blobs:
            yield f"blob {part.codec} {part.blob_bytes} {part.blob}\n"


def write_record(record: Record) -> str:
    """Return the canonical text of a record."""
    signed = "".join(f"signed {one}\n" for one in record.signatures)
    whole = "".join(_lines(record, True)) + signed
    return f"{whole}sum {sha256(whole.encode())}\n"


def _record(message: str) -> NoReturn:
    fail("corrupt", f"entry record: {message}")


def _number(word: str) -> int:
    if not word.isascii() or not word.isdigit() or int(word) >= 1 << 64:
        _record(f"'{word[:40]}' is not a number")
    return int(word)


def _digest(word: str) -> str:
    if not re.match(r"[0-9a-f]{64}\Z", word):
        _record(f"'{word[:80]}' is not a SHA-256")
    return word


def _is_line_text(word: str) -> bool:
    return all(c >= " " and c != "\x7f" for c in word)


def parse_record(data: bytes) -> Record:
    """Parse a record. A record has only one valid text, so the result is written again and compared with the input."""
    if len(data) > MOST_RECORD:
        _record(f"{len(data)} bytes, more than {MOST_RECORD}")
    whole = text(data, "entry record:")
    lines = whole.split("\n")
    if lines[0] != _FIRST_LINE:
        if lines[0].startswith("smelt-entry "):
            fail("format_newer", f"entry record: '{lines[0][:40]}' was written by a newer smelt; this one knows '{_FIRST_LINE}'")
        _record(f"does not begin with '{_FIRST_LINE}'")
    at = 1

    def field(name: str) -> str:
        nonlocal at
        if at >= len(lines) - 1 or not lines[at].startswith(name):
            _record(f"no line '{name}' where one should be")
        at += 1
        return lines[at - 1][len(name) + 1 :]

    key = _digest(field("key"))
    made_from = field("made-from")
    cost = _number(field("cost"))
    parts: list[RecordPart] = []
    while lines[at : at + 1] and lines[at].startswith("part "):
        size, _, rest = field("part").partition(" ")
        digest, _, name = rest.partition(" ")
        codec, *blob = field("blob").split(" ")
        if codec not in ("none", "zstd") or len(blob) != 2 or len(parts) == MOST_PARTS:
            _record("a blob has an unknown codec, or there are more than 4096 parts")
        parts.append(RecordPart(name, _number(size), _digest(digest), codec, _number(blob[0]), _digest(blob[1])))
    signatures: list[str] = []
    while lines[at : at + 1] and lines[at].startswith("signed "):
        signatures.append(field("signed"))
    field("sum")
    record = Record(key, made_from, cost, tuple(parts), tuple(signatures))
    _check(record)
    if write_record(record) != whole:
        _record("its bytes do not add up to its 'sum', or are spelled another way")
    return record


def _check(record: Record) -> None:
    if not record.parts:
        _record("an entry without parts")
    if len(record.signatures) > MOST_SIGNATURES:
        _record("more than 16 signatures")
    if len(record.made_from.encode()) > 4096 or not _is_line_text(record.made_from):
        _record("'made-from' of more than 4096 bytes, or with control characters")
    before = b""
    for i, part in enumerate(record.parts):
        name = part.name.encode()
        if not name or len(name) > 255 or not _is_line_text(part.name):
            _record("a part's name is empty, longer than 255 bytes or has control characters")
        if i and before >= name:
            _record("parts are not in the order of their names")
        before = name
        if part.bytes > MOST_PART or part.blob_bytes > MOST_PART:
            _record("a part of more than 256 MiB")
        if part.codec == "none" and (part.bytes, part.sha256) != (part.blob_bytes, part.blob):
            _record("a part that is kept as it is differs from its blob")
    if sum(part.bytes for part in record.parts) > MOST_ENTRY:
        _record("parts of more than 512 MiB in all")
    for one in record.signatures:
        if not one or len(one) > 256 or ":" not in one or not all("!" <= c <= "~" for c in one):
            _record("a signature that does not read NAME:BASE64")


class Address(NamedTuple):
    kind: str
    shown: str  # without password and options
    path: str  # of a folder
    user: str
    password: str
    times: dict[str, float]
    texts: dict[str, str]


def parse_address(url: str) -> Address:
    bare, _, query = url.partition("?")
    where = urlsplit(bare)
    shown = f"{where.scheme}://{where.netloc.rpartition('@')[2]}{where.path}".rstrip("/")

    def wrong(why: str, code: str = "invalid_argument") -> None:
        fail(code, f"remote {shown}: {why}")

    if where.scheme in ("redis", "rediss", "s3"):
        wrong(f"{where.scheme}:// needs the native module (the wheel smelt_remote-*.whl); without it, only file://, http:// and https:// work", "unsupported")
    if where.scheme not in ("file", "http", "https"):
        wrong("want a URL that begins with file://, http://, https://, redis://, rediss:// or s3://")
    if (where.scheme == "file") == bool(where.netloc):
        wrong("want file:///folder" if where.scheme == "file" else "want a host after ://")
    times, texts = dict(_DURATIONS), {}
    for option in filter(None, query.split("&")):
        name, _, value = option.partition("=")
        value = unquote(value)
        if name in _DURATIONS:
            found = re.match(r"([0-9]{1,12})(ms|s|m|h|d)\Z", value)
            if not found:
                wrong(f"{name}: '{value}': want a duration such as 300ms, 2s, 5m, 1h or 7d")
            times[name] = int(found[1]) * _UNITS[found[2]]  # type: ignore[index]
        elif name in _TEXTS:
            texts[name] = value
        elif name != "read-only":
            wrong(f"option '{name}' is not known; the options are read-only, {', '.join([*_DURATIONS, *_TEXTS])}")
    return Address(where.scheme, shown, unquote(where.path).rstrip("/"), unquote(where.username or ""), unquote(where.password or ""), times, texts)


class Trouble(Exception):
    """A fault of a server. It causes one warning, and the server is not used for a while."""


class _Folder:
    def __init__(self, path: str) -> None:
        self.path = path

    def get(self, name: str, most: int) -> bytes | None:
        if not os.path.isdir(self.path):
            raise Trouble("no such folder")
        path = os.path.join(self.path, *name.split("/"))
        try:
            # Whoever writes there may have put anything: a FIFO would be waited for.
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        except OSError:
            return None
        import stat

        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > most:
                return None
            return file.read(most + 1)


class _Web:
    def __init__(self, address: Address) -> None:
        import ssl
        import urllib.request

        self.address = address
        texts = address.texts
        handlers: list[Any] = [_redirects(address)]
        if address.kind == "https":
            try:
                context = ssl.create_default_context(cafile=texts.get("ca-file"))
                if "cert-file" in texts:
                    context.load_cert_chain(texts["cert-file"], texts.get("key-file"))
            except (OSError, ssl.SSLError) as error:
                fail("io", f"remote {address.shown}: certificates: {error}")
            handlers.append(urllib.request.HTTPSHandler(context=context))
        if "proxy" in texts:
            handlers.append(urllib.request.ProxyHandler({"http": texts["proxy"], "https": texts["proxy"]}))
        self.opener = urllib.request.build_opener(*handlers)
        self.credentials = ""
        if "token-file" in texts:
            try:
                with open(texts["token-file"], encoding="utf-8") as file:
                    token = file.readline().strip()
            except OSError as error:
                fail("io", f"remote {address.shown}: {texts['token-file']}: {error.strerror}")
            if not token:
                fail("invalid_argument", f"{texts['token-file']}: the first line should be the token; it is empty")
            self.credentials = f"Bearer {token}"
        elif address.user:
            self.credentials = "Basic " + base64.b64encode(f"{address.user}:{address.password}".encode()).decode()

    def get(self, name: str, most: int) -> bytes | None:
        import urllib.error
        import urllib.request

        request = urllib.request.Request(f"{self.address.shown}/{name}")
        if self.credentials:
            request.add_unredirected_header("Authorization", self.credentials)  # for this host alone
        times = self.address.times
        end = time.monotonic() + times["timeout"]
        try:
            with self.opener.open(request, timeout=min(times["timeout"], times["connect"] + times["stall"])) as answer:
                found = b""
                while True:
                    piece = answer.read1(1 << 16)
                    if not piece:
                        break
                    found += piece
                    if len(found) > most:
                        return None
                    if time.monotonic() > end:
                        raise Trouble(f"not done after {times['timeout']:g} s")
                length = answer.headers.get("Content-Length")
                return found if length is None or int(length) == len(found) else None
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in (404, 403, 410):
                return None
            raise Trouble(f"answered {error.code} to GET {name}") from None
        except Trouble:
            raise
        except Exception as error:  # sockets, TLS and http.client have many
            raise Trouble(str(getattr(error, "reason", error)) or type(error).__name__) from None


def _redirects(address: Address) -> Any:
    import urllib.error
    import urllib.request

    class Redirects(urllib.request.HTTPRedirectHandler):
        max_redirections = 3
        max_repeats = 3

        def redirect_request(self, request: Any, file: Any, code: int, message: str, headers: Any, new: str) -> Any:
            # Never from https to http; and a certificate is for the host that it was given for.
            if not new.startswith("https://" if address.kind == "https" else ("http://", "https://")) or "cert-file" in address.texts:
                raise urllib.error.HTTPError(request.full_url, code, "a redirect that is not followed", headers, file)
            return super().redirect_request(request, file, code, message, headers, new)

    return Redirects()


class Remote:
    """One remote. After a failure, it is not used for the time in its `rest` option."""

    def __init__(self, url: str, warn: Callable[[str], None]) -> None:
        self.address = parse_address(url)
        self._warn = warn
        self._transport: _Folder | _Web = _Folder(self.address.path) if self.address.kind == "file" else _Web(self.address)
        self._rests_until = 0.0
        self._missed: dict[str, float] = {}

    def _get(self, name: str, most: int) -> bytes | None:
        try:
            return self._transport.get(name, most)
        except Trouble as trouble:
            self._rests_until = time.monotonic() + self.address.times["rest"]
            self._warn(f"{self.address.shown}: {trouble}; it is not used for a while")
            return None

    def find(self, key: str) -> tuple[Record, dict[str, bytes]] | None:
        """Return the record and parts of a key, or None. The parts are checked against the record, but its signatures are not checked."""
        now = time.monotonic()
        if now < self._rests_until or now < self._missed.get(key, 0):
            return None
        data = self._get(f"ac/{key}", MOST_RECORD)
        if data is None:
            self._missed[key] = now + self.address.times["remember-misses"]
            return None
        try:
            record = parse_record(data)
            if record.key != key:
                _record("it is of another key")
            if sum(part.bytes for part in record.parts if part.codec == "zstd") > MOST_UNPACKED:
                _record("parts that unpack to more than 128 MiB")
            parts: dict[str, bytes] = {}
            end = time.monotonic() + self.address.times["timeout"] + _SECONDS
            for part in record.parts:
                blob = self._get(f"cas/{part.blob}", part.blob_bytes)
                if blob is None:
                    raise _NoBlob
                end += len(blob) / (1 << 20) * _SECONDS_PER_MIB
                parts[part.name] = self._part(part, blob, end)
            return record, parts
        except _NoBlob:
            return None
        except RuntimeError as error:
            if getattr(error, "code", "") not in ("corrupt", "format_newer"):
                raise
            self._warn(f"{self.address.shown}: ac/{key}: {error}; the entry counts as a miss")
            return None

    def _part(self, part: RecordPart, blob: bytes, end: float) -> bytes:
        def may_go_on() -> None:
            if time.monotonic() > end:
                fail("corrupt", f"{what} takes too long")

        what = f"part '{part.name}': cas/{part.blob}"
        may_go_on()
        if len(blob) != part.blob_bytes or sha256(blob) != part.blob:
            fail("corrupt", f"{what} does not hash to its name")
        if part.codec == "zstd":
            blob = zstd.decompress(blob, part.bytes, what, may_go_on)
        if len(blob) != part.bytes or sha256(blob) != part.sha256:
            fail("corrupt", f"{what} unpacks to other bytes than the record says")
        return blob


class _NoBlob(Exception):
    """A record whose blobs are missing. It counts as a miss, because servers may evict any file."""
