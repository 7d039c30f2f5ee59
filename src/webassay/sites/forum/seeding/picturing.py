"""What is on the pictures that people post. Some show a thing that their caption does not tell."""

import json

from webassay.sites.forum.seeding.words import Topic
from webassay.sites.rng import Stream

CARDS = (
    ("outdoors", "Trail Report", ("Mud", "Ice", "Fallen Trees", "Bridge Out", "Ticks", "Lot Full")),
    ("living", "Care Card", ("Water", "Light", "Feed", "Trim", "Move", "Rest")),
    ("food", "Tasting Slip", ("Salt", "Acid", "Heat", "Fat", "Sweet", "Time")),
    ("media", "Library Slip", ("Late", "Water Stain", "Dog-Eared", "Page Missing", "Signed", "Large Print")),
    ("news", "Sample Ballot", ("Measure A", "Measure B", "Measure C", "Measure D", "Measure E", "Measure F")),
    ("place", "Block Survey", ("Potholes", "Snow", "Noise", "Parking", "Lights", "Litter")),
    ("gear", "Repair Slip", ("Cleaned", "Oiled", "Tightened", "Replaced", "Sanded", "Tested")),
    ("", "Sign-Up Sheet", ("Salad", "Chips", "Pie", "Ice", "Plates", "Drinks")),
)
"""Cards with boxes to tick, by what a forum is about."""
STARS = ("Judge's Card", "Guest Card", "Club Rating", "Swap Meet Score")
METERS = (("Odometer", "miles"), ("Kitchen Scale", "grams"), ("Step Counter", "steps"), ("Electric Meter", "kWh"),
          ("Lap Timer", "seconds"), ("Visitor Counter", "visitors"))  # fmt: skip
SCENES = ("hills", "sea", "town", "field", "night", "desk")


def picture_of(stream: Stream, topic: Topic) -> tuple[str, str, str]:
    """Its kind, what is printed on it, and its facts."""
    kind = stream.weighted((("scene", 15), ("checklist", 2), ("stars", 2), ("meter", 2)))
    if kind == "checklist":
        heading, options = next((heading, options) for tag, heading, options in CARDS if not tag or tag in topic.tags)
        ticked = sorted(stream.sample(options, stream.between(1, 4)), key=options.index)
        return kind, heading, json.dumps({"options": options, "ticked": ticked})
    if kind == "stars":
        return (
            kind,
            stream.choice(STARS),
            json.dumps({"stars": stream.weighted(((1, 1), (2, 2), (3, 4), (4, 4), (5, 3)))}),
        )
    if kind == "meter":
        heading, unit = stream.choice(METERS)
        return kind, heading, json.dumps({"reading": stream.between(102, 98_765), "unit": unit})
    return kind, "", json.dumps({"scene": stream.choice(SCENES), "seed": stream.below(1 << 30)})
