"""The pictures that people post: drawn from a few facts, some of which stand nowhere else."""

import json
from typing import Any

from markupsafe import escape

from webassay.sites.kit import Row

_SKIES = ("#f6d7b0", "#bcd9ee", "#f2b8a0", "#cfd6e6", "#f7e3bf", "#a9c8d8", "#e6c6d9", "#d9e7d0")
_GROUNDS = ("#5f7f5a", "#86724f", "#4d6b78", "#7d5f6e", "#6f8a4a", "#4a5a73", "#a3794f", "#55705f")
_FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    ' font-family="sans-serif" font-size="14" fill="#222">{inside}</svg>'
)
_STAR = "M17 2l4.6 10 10.9 1.2-8.1 7.4 2.3 10.7L17 25.8 7.3 31.3 9.6 20.6 1.5 13.2 12.4 12z"
_SEGMENTS = (
    (4, 0, 22, 5), (24, 4, 5, 20), (24, 28, 5, 20), (4, 47, 22, 5), (1, 28, 5, 20), (1, 4, 5, 20), (4, 23, 22, 5),
)  # fmt: skip
"""Top, right above, right below, bottom, left below, left above, middle: of a digit, in a field of 30 by 52."""
_DIGITS = ("012345", "12", "01346", "01236", "1256", "02356", "023456", "012", "0123456", "012356")
"""Which segments are lit."""


def drawn(picture: Row) -> str:
    """As SVG."""
    facts = json.loads(picture["facts"])
    heading = str(escape(picture["heading"]))
    if picture["kind"] == "checklist":
        return _checklist(heading, facts)
    if picture["kind"] == "stars":
        return _stars(heading, facts["stars"])
    if picture["kind"] == "meter":
        return _meter(heading, str(facts["reading"]), str(escape(facts["unit"])))
    return _scene(facts["scene"], facts["seed"])


def thumbnail(picture: Row) -> str:
    """What a list shows of it: of a card no more than that it is one."""
    if picture["kind"] == "scene":
        return drawn(picture)
    lines = "".join(
        f'<path d="M30 {y}H{width}" stroke="#c9b78e" stroke-width="10"/>'
        for y, width in ((60, 150), (92, 200), (124, 170))
    )
    paper = '<rect width="228" height="174" fill="#fbf7ec"/><path d="M30 30H120" stroke="#a48b5c" stroke-width="14"/>'
    return _FRAME.format(width=228, height=174, inside=paper + lines)


def _card(width: int, height: int, heading: str, inside: str) -> str:
    paper = (
        f'<rect x="1" y="1" width="{width - 2}" height="{height - 2}" rx="8" fill="#fbf7ec" stroke="#a48b5c"'
        f' stroke-width="2"/><text x="20" y="32" font-size="18" font-weight="bold">{heading}</text>'
        f'<path d="M20 42H{width - 20}" stroke="#a48b5c"/>'
    )
    return _FRAME.format(width=width, height=height, inside=paper + inside)


def _checklist(heading: str, facts: dict[str, Any]) -> str:
    """Boxes that are ticked by hand: what is printed is the same on every such card."""
    rows = []
    for place, option in enumerate(facts["options"]):
        x, y = 20 + place % 2 * 170, 62 + place // 2 * 32
        cross = f'<path d="M{x - 1} {y}l13 12m1-13l-14 13" stroke="#1c3f94" stroke-width="3"/>'
        rows.append(
            f'<rect x="{x}" y="{y}" width="12" height="12" fill="#fff" stroke="#555"/>'
            f'{cross if option in facts["ticked"] else ""}<text x="{x + 18}" y="{y + 11}">{escape(option)}</text>'
        )
    return _card(360, 168, heading, "".join(rows))


def _stars(heading: str, gold: int) -> str:
    stars = "".join(
        f'<path transform="translate({20 + place * 34} 58)" d="{_STAR}"'
        f' fill="{"#d98a00" if place < gold else "#d5d9dd"}"/>'
        for place in range(5)
    )
    return _card(360, 112, heading, stars)


def _meter(heading: str, reading: str, unit: str) -> str:
    """Digits of seven segments, as a display has them: there is no text of them."""
    left = 30
    digits = "".join(
        f'<rect x="{left + place * 38 + x}" y="{70 + y}" width="{width}" height="{height}" rx="2" fill="#8df0b0"/>'
        for place, digit in enumerate(reading)
        for x, y, width, height in (_SEGMENTS[int(segment)] for segment in _DIGITS[int(digit)])
    )
    box = '<rect x="18" y="56" width="220" height="80" rx="6" fill="#12261b"/>'
    return _card(360, 152, heading, f'{box}{digits}<text x="252" y="124" font-size="18">{unit}</text>')


def _scene(name: str, seed: int) -> str:
    """Something to look at, always the same for one picture."""
    sky, ground = _SKIES[seed % 8], _GROUNDS[seed // 8 % 8]
    sun_x, sun_y = 80 + seed // 64 % 480, 50 + seed // 512 % 90
    inside = f'<rect width="640" height="400" fill="{"#1d2740" if name == "night" else sky}"/>'
    inside += f'<circle cx="{sun_x}" cy="{sun_y}" r="{22 + seed // 4096 % 20}" fill="#fff4d6"/>'
    for layer in range(4):
        bits = seed // (7 + layer * 31)
        base, rise = 210 + layer * 48, 30 + bits % 60
        shade = f'<path opacity="{(55 + 15 * layer) / 100}" fill="{ground}" d="'
        if name == "town":
            tops = "".join(
                f"V{base - rise + bits // (place + 1) % 70}h{40 + bits // (place + 3) % 50}" for place in range(9)
            )
            inside += f'{shade}M0 400{tops}V400z"/>'
        elif name in ("sea", "field"):
            wave = "".join(f"q40 {8 + bits % 12} 80 0" for _ in range(8))
            inside += f'{shade}M0 {base}{wave}V400H0z"/>'
        else:
            step = 640 // 4
            heights = [rise + bits // (place + 2) % 50 for place in range(4)]
            peaks = "".join(f"l{step // 2} {-height} {step // 2} {height}" for height in heights)
            inside += f'{shade}M{-bits % 60} {base}{peaks}H640V400H0z"/>'
    if name == "night":
        inside += "".join(
            f'<circle cx="{seed // (place + 1) % 640}" cy="{seed // (place + 9) % 190}" r="1.6" fill="#fff"/>'
            for place in range(1, 40)
        )
    return _FRAME.format(width=640, height=400, inside=inside)
