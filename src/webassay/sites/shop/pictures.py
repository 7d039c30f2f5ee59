"""Product pictures: small drawings in the product's color, always the same for one product."""

import tomllib
from functools import cache
from importlib.resources import files

from markupsafe import Markup, escape

from webassay.sites.kit import Row
from webassay.sites.shop.seeding.catalog import ORIGINS, WARRANTIES

# Color names to colors. Products without a color get one of TINTS, chosen by their number.
COLORS = {
    "Ivory": "#efe6d2", "Sage Green": "#93a98a", "Dusty Rose": "#cf9a9c", "Charcoal": "#4a4e54", "Navy": "#2b3f63",
    "Oatmeal": "#d8c8ad", "Terracotta": "#c56a4a", "Slate Blue": "#647f9d", "White": "#f4f4f1", "Mustard": "#d5a433",
    "Gray": "#a9adb2", "Black": "#33363b", "Red": "#c8402f", "Teal": "#2b8f8b", "Cream": "#f0e3c4",
    "Copper": "#bd7747", "Graphite": "#565b63", "Sky Blue": "#7db6dc", "Mint": "#9ed3bb",
    "Stainless Steel": "#b4bbc2", "Matte Black": "#2d2f33", "Silver": "#bfc4ca", "Brushed Nickel": "#a7a59f",
    "Brass": "#c6a14a", "Bronze": "#8d6a43", "Midnight Blue": "#26335c", "Rose Gold": "#dba796",
    "Lavender": "#b3a3d6", "Blue": "#3c78c8", "Green": "#4b9a58", "Yellow": "#eac443", "Pink": "#e58fb0",
    "Purple": "#8359b4", "Orange": "#e2883c", "Heather Gray": "#9ba0a8", "Olive": "#74763f", "Burgundy": "#7b2c3b",
    "Rust": "#a9532f", "Camel": "#c19a68", "Denim Blue": "#4f6f98", "Walnut": "#7b563b", "Natural Oak": "#cda876",
    "Rustic Brown": "#8e6545", "Espresso": "#4d382c", "Brown": "#7d5437", "Tan": "#c9a377", "Cognac": "#a35f33",
    "Dark Brown": "#553a2a", "Gold": "#d4ad49", "Berry": "#8e2f52", "Nude Rose": "#c98b80", "Classic Red": "#b8202d",
    "Mauve": "#a87a8e", "Coral": "#e8775f", "Plum": "#63304f", "Forest Green": "#3c6547", "Slate": "#66717b",
    "Sand": "#d6c09b",
}  # fmt: skip
TINTS = ("#c8553d", "#3f7cac", "#588b63", "#e0a030", "#7a5c99", "#2f8f8f", "#b5677d", "#8a7048", "#5b6c8f", "#d07f4f")
GROUNDS = ("#f3efe8", "#e9f0f1", "#f4ebe9", "#edf1e6", "#efecf4", "#f5f0e1", "#e8eef6", "#f1f1ef")

_SAME = {
    "sheets": "folded", "duvet": "folded", "towel": "folded", "cushion": "pillow", "petbed": "pillow",
    "yogamat": "roll", "sleepingbag": "roll", "shower": "bottle", "rack": "shelf", "patiochair": "chair",
    "phonecase": "phone", "screen": "phone", "plug": "charger", "hub": "charger", "memorycard": "card",
    "camerabag": "backpack", "seccam": "camera", "boardgame": "box", "gamecase": "box", "teabox": "box",
    "cereal": "box", "litter": "pouch", "nuts": "pouch", "chips": "pouch", "coffeebag": "pouch", "pasta": "pouch",
    "seedbag": "pouch", "seeds": "pouch", "treats": "pouch", "honey": "jar", "spice": "jar", "bathbomb": "soap",
    "headlamp": "lantern", "grilltools": "flatware",
}  # fmt: skip


def picture(name: str, color: str, number: int, label: str = "") -> Markup:
    """Without a label it is decoration, and screen readers skip it."""
    role = f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'
    frame = 'class="picture" viewBox="0 0 200 200" preserveAspectRatio="xMidYMid slice"'
    return Markup(f"<svg {frame} {role}>{_drawing(name, color, number)}</svg>")


COUNTRIES = tuple(sorted(country for country, _ in ORIGINS))
MONTHS = tuple(sorted(set(WARRANTIES)))
_COLUMNS = (20, 132, 238)


def label(product: Row) -> str:
    """The card in the package of a product. Its boxes are ticked by hand: what the text says is the same on every card,
    and only who sees the picture knows which ones."""
    boxes = [
        _box(_COLUMNS[place % 3], 66 + 20 * (place // 3), country, country == product["origin"])
        for place, country in enumerate(COUNTRIES)
    ]
    boxes += [
        _box(20 + 41 * place, 192, str(months), months == product["warranty_months"])
        for place, months in enumerate(MONTHS)
    ]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 220" width="360" height="220"'
        ' font-family="sans-serif" font-size="13" fill="#222">'
        '<rect x="1" y="1" width="358" height="218" rx="10" fill="#fbf6ea" stroke="#a48b5c" stroke-width="2"/>'
        f'<text x="20" y="28" font-size="16" font-weight="bold">{escape(product["brand"])}</text>'
        f'<text x="340" y="28" text-anchor="end">{product["sku"]}</text><path d="M20 38H340" stroke="#a48b5c"/>'
        '<text x="20" y="56" font-weight="bold">Made in</text>'
        '<text x="20" y="182" font-weight="bold">Warranty in months</text>'
        f"{''.join(boxes)}</svg>"
    )


def _box(x: int, y: int, text: str, ticked: bool) -> str:
    cross = f'<path d="M{x - 1} {y}l13 12m1-13l-14 13" stroke="#1c3f94" stroke-width="3"/>' if ticked else ""
    box = f'<rect x="{x}" y="{y}" width="12" height="12" fill="#fff" stroke="#555"/>'
    return f'{box}{cross}<text x="{x + 18}" y="{y + 11}">{text}</text>'


@cache
def _shapes() -> dict[str, str]:
    return tomllib.loads((files(__package__) / "drawings.toml").read_text(encoding="utf-8"))


@cache
def _drawing(name: str, color: str, number: int) -> str:
    # Multiplying scatters neighboring numbers, so that products side by side look different.
    scatter = number * 2654435761 % 2**32
    main = COLORS.get(color, TINTS[scatter % len(TINTS)])
    inks = {
        "m": main, "d": _mixed(main, "#1d1f24", 28), "l": _mixed(main, "#ffffff", 45),
        "w": "#fdfcf9", "k": "#34373d", "g": "#dfeaee",
    }  # fmt: skip
    ground = GROUNDS[scatter // 16 % len(GROUNDS)]
    halo = _mixed(ground, main, 14)
    x, y, r = 70 + scatter // 256 % 60, 70 + scatter // 4096 % 50, 52 + scatter // 65536 % 26
    tilt = scatter // 1048576 % 15 - 7
    shape = _shapes()[_SAME.get(name, name)].format_map(inks)
    return (
        f'<rect width="200" height="200" fill="{ground}"/><circle cx="{x}" cy="{y}" r="{r}" fill="{halo}"/>'
        f'<ellipse cx="100" cy="162" rx="58" ry="8" fill="{_mixed(ground, "#000000", 12)}"/>'
        f'<g transform="rotate({tilt} 100 100)">{shape}</g>'
    )


def _mixed(one: str, other: str, percent: int) -> str:
    """A mix with that many percent of the second color."""
    parts = ((int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{(a * (100 - percent) + b * percent) // 100:02x}" for a, b in parts)
