"""Who buys: people of many origins, some with the same name or nearly so, businesses, and where they live."""

import unicodedata
from functools import cache

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.words import names, vocabulary, words

Address = tuple[str, str, str, str, str, str, str, str]
"""First name, last name, street, second line, city, state, postcode, telephone."""
Name = tuple[str, str]
"""First and last."""
NOT_DECOMPOSED = str.maketrans("łŁøØıđ", "lLoOid")
SHORTER = (("Street", "St"), ("Avenue", "Ave"), ("Drive", "Dr"), ("Road", "Rd"), ("Lane", "Ln"), ("Court", "Ct"))


def plain_letters(text: str) -> str:
    """As in an email address: 'José O'Brien' is joseobrien."""
    plain = unicodedata.normalize("NFKD", text.translate(NOT_DECOMPOSED)).encode("ascii", "ignore").decode()
    return "".join(letter for letter in plain.lower() if letter.isalnum())


@cache
def _first_names() -> tuple[str, ...]:
    people = vocabulary("people")
    return names(people["first"]) + words(people["first_afar"])


@cache
def _last_names() -> tuple[str, ...]:
    people = vocabulary("people")
    return names(people["last"]) + words(people["last_afar"]) + words(people["last_common"])


def a_name(stream: Stream) -> Name:
    return stream.choice(_first_names()), stream.choice(_last_names())


def people(stream: Stream, count: int) -> list[Name]:
    """Each tenth has a namesake, or somebody whose name is nearly the same."""
    found: list[Name] = []
    while len(found) < count:
        kind = stream.below(40)
        first, last = a_name(stream)
        if kind == 0:
            found += [(first, last), (first, last)]
        elif kind == 1:
            found += [(one, last) for one in _alike(stream, "alike_first")]
        elif kind == 2:
            found += [(first, one) for one in _alike(stream, "alike_last")]
        else:
            found.append((first, last))
    return stream.shuffled(found[:count])


def _alike(stream: Stream, key: str) -> list[str]:
    return stream.choice(words(vocabulary("people")[key])).split("=")


def businesses(stream: Stream, count: int) -> list[Name]:
    """No two with the same name."""
    heads, kinds = (words(vocabulary("people")[key]) for key in ("business_heads", "business_kinds"))
    found: dict[Name, None] = {}
    while len(found) < count:
        found[stream.choice(heads), stream.choice(kinds)] = None
    return list(found)


def email_of(stream: Stream, name: Name, business: bool) -> str:
    first, last = map(plain_letters, name)
    domain = stream.choice(("example.com", "example.net", "example.org"))
    if business:
        return f"{stream.choice(('office', 'orders', 'hello', 'purchasing', 'info'))}.{first}-{last}@{domain}"
    local = stream.choice(
        (f"{first}.{last}", f"{first[0]}{last}", f"{first}{stream.between(60, 99)}", f"{last}.{first}")
    )
    return f"{local}@{domain}"


def some_address(stream: Stream, name: Name, place: str = "") -> Address:
    """As its owner writes it. `place`: a line of the cities; by default any."""
    people = vocabulary("people")
    city, region, zip_start, area = (place or stream.choice(people["cities"])).rsplit(" ", 3)
    street = f"{stream.between(2, 9899)} {stream.choice(words(people['streets']))}"
    style = stream.below(40)
    if style < 5:
        long, short = next((pair for pair in SHORTER if street.endswith(pair[0])), ("", ""))
        street = street.removesuffix(long) + short + ("." if short and style < 2 else "")
    elif style == 5:
        street = street.lower()
    return (
        *name,
        street,
        stream.choice(words(people["units"])) if stream.chance(1, 3) else "",
        city,
        region,
        f"{zip_start}{stream.between(1, 99):02d}",
        f"{area}-555-01{stream.below(100):02d}",
    )
