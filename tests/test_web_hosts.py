"""Which hosts and addresses of the web may be asked."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tables import table

from toulmin.errors import UsageError
from toulmin.retrieval.fetching import Hosts, address_of, host_of, is_public
from toulmin.retrieval.web import Pages


@table(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.1",
        "169.254.169.254",
        "100.100.100.200",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "ff02::1",
    ],
)
def test_an_address_that_is_not_of_the_open_internet_is_known(address: str):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07::1", "::ffff:93.184.215.14"])
def test_an_address_of_the_open_internet_is_known(address: str):
    assert is_public(address)


@table(
    ("link", "may"),
    [
        ("https://en.wikipedia.org/wiki/X", True),
        ("https://EN.Wikipedia.ORG./wiki/X", True),
        ("https://simple.en.wikipedia.org", True),
        ("https://wikipedia.org", False),
        ("https://evil-en.wikipedia.org.example", False),
        ("https://xen.wikipedia.org", False),
        ("https://en.wikipediа.org", False),  # a Cyrillic letter
        ("https://bücher.example/x", True),
        ("https://xn--bcher-kva.example/x", True),
        ("http://2130706433/", False),
        ("http://0x7f.1/", False),
        ("http://1.en.wikipedia.org@127.0.0.1/", None),
    ],
)
def test_a_host_is_allowed_by_its_exact_name_or_as_a_subdomain(link: str, may: bool | None):
    url = address_of(link)
    assert (None if url is None else Hosts.of(("en.wikipedia.org", "Bücher.example")).allows(url)) == may


def test_an_ip_address_is_no_subdomain():
    url = address_of("http://1.127.0.0.1/")
    assert url is None or not Hosts.of(("127.0.0.1", "0.0.1")).allows(url)


@pytest.mark.parametrize("name", ["http://e.org", "e.org/x", "e.org:80", "", "a b", "user@e.org"])
def test_what_is_no_host_cannot_be_allowed(name: str):
    with pytest.raises(UsageError, match="A host is like"):
        Pages(allow=(name,))


def test_a_host_of_version_six_is_a_host():
    assert host_of("::1") == "::1"


@given(st.text(max_size=40))
@settings(deadline=None, max_examples=100)
def test_an_address_has_a_host_and_the_scheme_of_the_web(text: str):
    url = address_of(f"http://{text}")
    assert url is None or (url.scheme in ("http", "https") and url.raw_host != b"")
