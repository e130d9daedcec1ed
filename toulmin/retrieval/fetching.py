"""Fetches a web address, limited in bytes, seconds and where it may connect.

Rules of this file
* An address is http or https, without user or password, and its host is allowed; so is every redirect's.
* A host is resolved once and its checked addresses are connected to, so DNS rebinding fails. Non-public addresses
  (loopback, private, link-local, cloud metadata) are refused, unless the host may be `inside`.
* No proxy, cookie, password or environment setting is used. Compressed replies are refused.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import socket
import ssl
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from functools import cache
from time import monotonic
from typing import Any

import httpx2
import stamina

from toulmin import __version__
from toulmin.errors import UsageError

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_LONGEST_ADDRESS = 2000  # characters
_PASSING = frozenset((408, 429, 500, 502, 503, 504))
_LONGEST_PAUSE = 5.0  # seconds
_HOST = re.compile(rb"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

# stamina logs each retry as a warning, which Python prints where logging is not configured.
logging.getLogger("stamina").addHandler(logging.NullHandler())
LOG = logging.getLogger("toulmin.retrieval")


class Refused(Exception):
    """Why there is no reply, in words that follow an address; `again` if a retry may succeed."""

    def __init__(self, why: str, again: bool = False, status: int | None = None) -> None:
        super().__init__(why)
        self.again = again
        self.status = status


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a fetch; raises `UsageError` for impossible values.

    `size` is in bytes. `timeout` is the seconds for everything, retries, pauses and redirects included;
    `idle_timeout` those without a byte. `pause`, before the first retry, doubles each time.
    """

    size: int = 2_000_000
    timeout: float = 20.0
    idle_timeout: float = 10.0
    retries: int = 2
    pause: float = 0.3
    redirects: int = 3

    def __post_init__(self) -> None:
        for name in ("size", "timeout", "idle_timeout", "pause"):
            if not getattr(self, name) > 0:
                raise UsageError(f"A bound's {name} should be more than 0, not {getattr(self, name)!r}.")
        check_least(self, 0, "A bound's {} should be 0 or more", "retries", "redirects")


def check_least(bounds: object, least: int, rule: str, *names: str) -> None:
    """Raises `UsageError` with the rule for an attribute below the least value."""
    for name in names:
        if getattr(bounds, name) < least:
            raise UsageError(f"{rule.format(name)}, not {getattr(bounds, name)!r}.")


@dataclass(frozen=True, slots=True)
class Fetched:
    """The final address, media type and character set in lower case, and bytes."""

    address: str
    kind: str
    charset: str | None
    data: bytes


# ---------------------------------------------------------------- addresses and hosts


def address_of(text: object) -> httpx2.URL | None:
    """The address without fragment; None unless http or https, short, and without user."""
    if not isinstance(text, str) or len(text) > _LONGEST_ADDRESS:
        return None
    with suppress(httpx2.InvalidURL, ValueError, UnicodeError):
        url = httpx2.URL(text.strip())
        if url.scheme in ("http", "https") and _HOST.fullmatch(url.raw_host) and not url.userinfo:
            return url.copy_with(fragment=None)
    return None


def host_of(name: str) -> str:
    """A lower-case host, other scripts as IDNA. Raises `UsageError` for what is no host."""
    bare = name.strip().rstrip(".")
    url = address_of(f"http://[{bare}]" if ":" in bare else f"http://{bare}")
    if url is None or url.raw_path not in (b"", b"/") or url.port is not None:
        raise UsageError(f"A host is like en.wikipedia.org, without scheme, port or path, not {name!r}.")
    return _host(url)


def _host(url: httpx2.URL) -> str:
    return url.raw_host.decode("ascii").rstrip(".").lower()


@dataclass(frozen=True, slots=True)
class Hosts:
    """The allowed hosts with subdomains; those `inside`, by exact name, may be non-public."""

    allowed: frozenset[str]
    inside: frozenset[str] = frozenset()

    @classmethod
    def of(cls, allowed: Iterable[str], inside: Iterable[str] = ()) -> Hosts:
        """Raises `UsageError` for what is no host."""
        return cls(frozenset(map(host_of, allowed)), frozenset(map(host_of, inside)))

    def allows(self, url: httpx2.URL) -> bool:
        """Whether the host is allowed; its addresses are checked later."""
        host = _host(url)
        is_below = any(host.endswith(f".{name}") and _has_subdomains(name) for name in self.allowed)
        return is_below or host in self.allowed or host in self.inside


def _has_subdomains(host: str) -> bool:
    return ":" not in host and not host.rpartition(".")[2].isdecimal()


def is_public(address: str) -> bool:
    """Whether an IP address, and any that it wraps, is public."""
    ip = ipaddress.ip_address(address.split("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        translated = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None
        wrapped = filter(None, (ip.ipv4_mapped, ip.sixtofour, translated, *(ip.teredo or ())))
        if inner := list(wrapped):
            return all(each.is_global and not each.is_multicast for each in inner)
    return ip.is_global and not ip.is_multicast


class _Guard(httpx2.AsyncBaseTransport):
    def __init__(self, hosts: Hosts, transport: httpx2.AsyncBaseTransport) -> None:
        self._hosts = hosts
        self._transport = transport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = _host(request.url)
        last: Exception | None = None
        for address in await self._resolve(host, request.url):
            # The Host header and the certificate's name remain those of the host.
            request.url = request.url.copy_with(host=address)
            request.extensions = {**request.extensions, "sni_hostname": host}
            try:
                return await self._transport.handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                last = error
        raise last or Refused("has no address")

    async def _resolve(self, host: str, url: httpx2.URL) -> list[str]:
        port = url.port or (443 if url.scheme == "https" else 80)
        loop = asyncio.get_running_loop()
        try:
            infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise Refused("has a host that cannot be found", again=True) from None
        addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
        if host not in self._hosts.inside and not all(map(is_public, addresses)):
            raise Refused("leads to an address that is not public")
        return addresses

    async def aclose(self) -> None:
        await self._transport.aclose()


# ---------------------------------------------------------------- fetching


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


class Fetcher(AbstractAsyncContextManager["Fetcher"]):
    """Use it as an async context manager."""

    def __init__(self, hosts: Hosts, bounds: Bounds) -> None:
        self._hosts = hosts
        self._bounds = bounds
        transport = httpx2.AsyncHTTPTransport(verify=_ssl_context(), trust_env=False)
        self._client = httpx2.AsyncClient(
            transport=_Guard(hosts, transport),
            timeout=httpx2.Timeout(bounds.idle_timeout, pool=None),
            headers={"Accept-Encoding": "identity", "User-Agent": f"toulmin/{__version__}"},
            follow_redirects=False,
            trust_env=False,
        )

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def fetch(self, url: httpx2.URL, kinds: frozenset[str]) -> Fetched:
        """Raises `Refused`, also for a media type not in `kinds`."""
        last, failed_at = None, 0.0
        try:
            async with asyncio.timeout(self._bounds.timeout):
                async for attempt in self._attempts():
                    if last is not None:  # the address is left out: it may hold a query
                        wait = round(monotonic() - failed_at, 3)
                        fields = {"host": _host(url), "try": attempt.num, "wait": wait, "reason": str(last)}
                        LOG.warning("%(host)s: try %(try)d after a wait of %(wait).1f s; it %(reason)s", fields)
                    with attempt:
                        try:
                            return await self._follow(url, kinds)
                        except Refused as refused:
                            last, failed_at = refused, monotonic()
                            raise
        except TimeoutError:
            raise Refused(f"gave no complete reply within {self._bounds.timeout:g} s", again=True) from None
        raise AssertionError("stamina ends with a reply or an error")

    def _attempts(self) -> Any:
        pause = self._bounds.pause
        return stamina.retry_context(
            on=lambda error: isinstance(error, Refused) and error.again,
            attempts=self._bounds.retries + 1,
            timeout=None,
            wait_initial=pause,
            wait_max=_LONGEST_PAUSE,
            wait_jitter=pause,
        )

    async def _follow(self, url: httpx2.URL, kinds: frozenset[str]) -> Fetched:
        for _ in range(self._bounds.redirects + 1):
            if not self._hosts.allows(url):
                raise Refused(f"leads to {_host(url)}, a host that is not allowed")
            fetched = await self._fetch_once(url, kinds)
            if isinstance(fetched, Fetched):
                return fetched
            url = fetched
        raise Refused(f"redirects more than {self._bounds.redirects} times")

    async def _fetch_once(self, url: httpx2.URL, kinds: frozenset[str]) -> Fetched | httpx2.URL:
        """The reply, or the address that it redirects to."""
        self._client.cookies.clear()
        try:
            async with self._client.stream("GET", url) as response:
                if response.status_code in _REDIRECTS:
                    return _target(url, response)
                return await self._read(url, response, kinds)
        except httpx2.TimeoutException:
            raise Refused(f"sent nothing for {self._bounds.idle_timeout:g} s", again=True) from None
        except httpx2.ConnectError as error:
            if "CERTIFICATE" in str(error):
                raise Refused("has a certificate that cannot be trusted") from None
            raise Refused("cannot be reached", again=True) from None
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
            raise Refused(f"broke off ({type(error).__name__})", again=True) from None

    async def _read(self, url: httpx2.URL, response: httpx2.Response, kinds: frozenset[str]) -> Fetched:
        status = response.status_code
        if status != 200:
            raise Refused(f"answered with status {status}", again=status in _PASSING, status=status)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in kinds:
            raise Refused(f"is {kind or 'of no known type'}, not {' or '.join(sorted(kinds))}")
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused("came compressed, which was not asked for")
        data = bytearray()
        async for chunk in response.aiter_raw():
            data += chunk
            if len(data) > self._bounds.size:
                raise Refused(f"is over {self._bounds.size:,} bytes")
        return Fetched(str(url), kind, response.charset_encoding, bytes(data))


def _target(url: httpx2.URL, response: httpx2.Response) -> httpx2.URL:
    with suppress(httpx2.InvalidURL, ValueError, UnicodeError):
        if target := address_of(str(url.join(response.headers.get("location", "")))):
            return target
    raise Refused("redirects to what is no http address")
