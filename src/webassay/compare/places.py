"""Places: coordinates and postal addresses."""

import re
from decimal import Decimal
from typing import NamedTuple

from webassay.compare.match import Slack, UnreadableValue, ValueKind, bounded, described, near
from webassay.compare.quantities import read_number
from webassay.compare.text import fold, read_string


class Coordinates(NamedTuple):
    latitude: Decimal
    longitude: Decimal

    def __str__(self) -> str:
        return f"{self.latitude:f}, {self.longitude:f}"[:80]


_DEGREES = (
    r"(?P<{0}a>[ns{1}])?\s?(?P<{0}sign>[+-])?(?P<{0}d>\d{{1,3}}(?:\.\d{{1,20}})?)\s?(?:°|º|deg|d)?\s?"
    r"(?:(?P<{0}m>\d{{1,2}}(?:\.\d{{1,12}})?)\s?(?:'|′|m)\s?)?(?:(?P<{0}s>\d{{1,2}}(?:\.\d{{1,12}})?)\s?(?:\"|″|''|s)\s?)?"
    r"(?P<{0}b>[ns{1}])?"
)
_PAIR = re.compile(
    r"[(\[]?\s?(?:lat(?:itude)?[:=]?\s?)?"
    + _DEGREES.format("x", "")
    + r"(?:\s?[,;/]\s?|\s)(?:(?:lon(?:g|gitude)?|lng)[:=]?\s?)?"
    + _DEGREES.format("y", "").replace("[ns]", "[ew]")
    + r"\s?[)\]]?",
    re.ASCII,
)


def read_coordinates(value: object) -> Coordinates:
    if isinstance(value, dict):
        return _checked(*_from_object(value))
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise UnreadableValue("two numbers are needed")
        return _checked(read_number(value[0]).value, read_number(value[1]).value)
    if not isinstance(value, str):
        raise UnreadableValue(f"it is {described(value)}")
    text = " ".join(bounded(value).casefold().replace("−", "-").replace("’", "'").replace("”", '"').split())
    if len(text) > 120:
        raise UnreadableValue("it is too long for coordinates")
    found = _PAIR.fullmatch(text)
    if not found:
        raise UnreadableValue("it is not a pair of coordinates")
    return _checked(*(_angle(found, part) for part in "xy"))


def _angle(found: re.Match[str], part: str) -> Decimal:
    sign, before, after = found[f"{part}sign"], found[f"{part}a"], found[f"{part}b"]
    letter = before or after or ""
    if (before and after) or (sign and letter):
        raise UnreadableValue("it has two signs")
    size = Decimal(found[f"{part}d"])
    size += Decimal(found[f"{part}m"] or 0) / 60 + Decimal(found[f"{part}s"] or 0) / 3600
    return -size if sign == "-" or letter in ("s", "w") else size


def _from_object(value: dict[str, object]) -> tuple[Decimal, Decimal]:
    found: dict[str, Decimal] = {}
    for key, item in value.items():
        name = fold(str(key))
        for axis, full in (("latitude", "latitude"), ("longitude", "longitude"), ("longitude", "lng")):
            if len(name) >= 3 and full.startswith(name):
                if axis in found:
                    raise UnreadableValue(f"it gives the {axis} twice")
                found[axis] = read_number(item).value
    if len(found) != 2 or len(value) != 2:
        raise UnreadableValue("a latitude and a longitude are needed, and nothing else")
    return found["latitude"], found["longitude"]


def _checked(latitude: Decimal, longitude: Decimal) -> Coordinates:
    if abs(latitude) > 90 or abs(longitude) > 180:
        raise UnreadableValue("there is no such place on Earth")
    return Coordinates(latitude, longitude)


def _same_spot(a: Coordinates, b: Coordinates, slack: Slack) -> bool:
    """The tolerance is in degrees."""
    return all(near(x, y, Slack(slack.absolute)) for x, y in zip(a, b, strict=True))


COORDINATES = ValueKind("pair of coordinates", read_coordinates, _same_spot)

# --- postal addresses -------------------------------------------------------------------------------------

_SUFFIXES = {
    "st": "street", "str": "street", "ave": "avenue", "av": "avenue", "rd": "road", "blvd": "boulevard", "dr": "drive",
    "ln": "lane", "ct": "court", "pl": "place", "sq": "square", "hwy": "highway", "pkwy": "parkway", "ter": "terrace",
    "cir": "circle", "expy": "expressway", "n": "north", "s": "south", "e": "east", "w": "west", "ne": "northeast",
    "nw": "northwest", "se": "southeast", "sw": "southwest", "mt": "mount", "ft": "fort",
}  # fmt: skip
_STATES = (
    "AL:alabama AK:alaska AZ:arizona AR:arkansas CA:california CO:colorado CT:connecticut DE:delaware "
    "DC:district of columbia FL:florida GA:georgia HI:hawaii ID:idaho IL:illinois IN:indiana IA:iowa KS:kansas "
    "KY:kentucky LA:louisiana ME:maine MD:maryland MA:massachusetts MI:michigan MN:minnesota MS:mississippi "
    "MO:missouri MT:montana NE:nebraska NV:nevada NH:new hampshire NJ:new jersey NM:new mexico NY:new york "
    "NC:north carolina ND:north dakota OH:ohio OK:oklahoma OR:oregon PA:pennsylvania RI:rhode island "
    "SC:south carolina SD:south dakota TN:tennessee TX:texas UT:utah VT:vermont VA:virginia WA:washington "
    "WV:west virginia WI:wisconsin WY:wyoming PR:puerto rico"
)
_STATE_NAMES: dict[str, str] = {
    code.casefold(): name for code, name in re.findall(r"([A-Z]{2}):([a-z ]+?)(?= [A-Z]{2}:|$)", _STATES)
}
_PARTS = ("house_number", "street", "city", "state", "postcode")


def read_full_address(value: object) -> tuple[str, ...]:
    """An object with the five parts; an additional `name` is ignored."""
    if not isinstance(value, dict):
        raise UnreadableValue(f"it is {described(value)}, not an object with {', '.join(_PARTS)}")
    missing = [part for part in _PARTS if part not in value]
    surplus = [str(key) for key in value if key not in (*_PARTS, "name")]
    if missing or surplus:
        raise UnreadableValue(f"missing: {', '.join(missing) or 'none'}; unknown: {', '.join(surplus)[:80] or 'none'}")
    return tuple(_part(part, value[part]) for part in _PARTS)


def _part(name: str, value: object) -> str:
    text = read_string(value) if value is not None else ""
    if name == "state":
        return _STATE_NAMES.get(text.replace(".", ""), text)
    if name == "postcode":
        digits = re.fullmatch(r"(\d{5})[- ]?\d{4}", text)
        return str(digits[1]) if digits else text
    words = re.findall(r"[^\W_]+", text.replace("'", ""))
    return " ".join(_SUFFIXES.get(word, word) for word in words)


def _equal(a: tuple[str, ...], b: tuple[str, ...], _: Slack) -> bool:
    return a == b


FULL_ADDRESS = ValueKind("postal address", read_full_address, _equal, ", ".join)
