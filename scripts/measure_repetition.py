"""How often the shop's data say the same again.

python scripts/measure_repetition.py [WORLD SEED …]
python scripts/measure_repetition.py --database FILE …     # snapshots that were built before
"""

import argparse
import re
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import apsw

from webassay.sites.kit import build
from webassay.sites.shop import SITE

SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")


def plain(sentence: str) -> str:
    """Without case and marks, so that a slip of the finger alone makes no other sentence of it."""
    return re.sub(r"[^a-z0-9 ]", "", sentence.lower()).strip()


def heads(name: str, found: Counter[str], most: int = 3) -> None:
    print(f"  {name}: " + "; ".join(f"{count} × {what!r}" for what, count in found.most_common(most)))


def sentences(db: apsw.Connection) -> None:
    of_product: dict[int, Counter[str]] = defaultdict(Counter)
    reviews: Counter[int] = Counter()
    everywhere: Counter[str] = Counter()
    titles: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    for product, title, text in db.execute("SELECT product_id, title, text FROM reviews"):
        reviews[product] += 1
        titles[title] += 1
        texts[text] += 1
        said = [plain(one) for one in SENTENCE.split(text)]
        of_product[product].update({one for one in said if one})
        everywhere.update({one for one in said if one})
    total = sum(everywhere.values())
    print(f"  reviews {len(list(texts.elements()))}, different texts {len(texts)}, different titles {len(titles)}")
    print(f"  sentences {total}, different ones {len(everywhere)} ({100 * len(everywhere) / total:.1f} %)")
    long = [product for product, count in reviews.most_common() if count >= 150]
    worst = {product: of_product[product].most_common(1)[0] for product in long}
    print(f"  products with at least 150 reviews: {len(long)}")
    for product, (sentence, times) in sorted(worst.items(), key=lambda one: -one[1][1])[:3]:
        print(f"    product {product}, {reviews[product]} reviews: {times} × {sentence!r}")
    counts = Counter(min(count, 3) for each in of_product.values() for count in each.values())
    said = sum(counts.values())
    print(f"  within a product said once {100 * counts[1] / said:.1f} %, twice {100 * counts[2] / said:.2f} %, "
          f"more often {100 * counts[3] / said:.2f} %")  # fmt: skip
    heads("most frequent across products", everywhere)
    heads("most frequent titles", titles)


def people(db: apsw.Connection) -> None:
    def all_of(sql: str) -> list[tuple[object, ...]]:
        return list(db.execute(sql))

    per = sorted((int(str(row[0])) for row in all_of("SELECT count(*) FROM orders GROUP BY customer_id")), reverse=True)
    print(f"  orders {sum(per)} of {len(per)} customers: most {per[:10]}, median {per[len(per) // 2]}")
    most = all_of("SELECT first_name || ' ' || last_name, count(*) FROM orders JOIN customers AS c ON c.id ="
                  " customer_id GROUP BY c.id ORDER BY 2 DESC LIMIT 6")  # fmt: skip
    print(f"  who orders most: {most}")
    status = all_of("SELECT status, count(*) FROM orders GROUP BY 1 ORDER BY 2 DESC")
    print("  statuses: " + ", ".join(f"{name} {100 * int(str(count)) / sum(per):.2f} %" for name, count in status))
    names = Counter(str(row[0]) for row in all_of("SELECT first_name || ' ' || last_name FROM customers"))
    print(f"  names of customers {sum(names.values())}, different {len(names)}")
    heads("same name", names)
    pairs = "SELECT count(*), sum(s.last_name <> b.last_name), sum(s.first_name <> b.first_name OR s.last_name <>" \
        " b.last_name) FROM order_addresses AS s JOIN order_addresses AS b ON b.order_id = s.order_id AND b.kind =" \
        " 'billing' WHERE s.kind = 'shipping'"  # fmt: skip
    ((every, surname, name),) = all_of(pairs)
    print(f"  ship-to names that differ from bill-to {name} of {every}, with another surname {surname}")
    months = Counter(str(row[0]) for row in all_of("SELECT substr(created_at, 6, 2) FROM orders WHERE created_at"
                                                   " BETWEEN '2022' AND '2026'"))  # fmt: skip
    print("  orders by month, 2022 to 2025: " + " ".join(str(months[month]) for month in sorted(months)))
    endings = Counter(f"{int(str(row[0])):02}" for row in all_of("SELECT price_cents % 100 FROM products"))
    print("  cents of prices: " + ", ".join(f"{cents} {count}" for cents, count in endings.most_common(12)))
    comments = Counter(str(row[0]) for row in all_of("SELECT comment FROM order_comments"))
    heads(f"comments {sum(comments.values())}, different {len(comments)}", comments)
    said = Counter(str(row[0]) for row in all_of("SELECT comment FROM returns WHERE comment <> ''"))
    heads(f"comments of returns {sum(said.values())}, different {len(said)}", said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="*", type=int, default=[7])
    parser.add_argument("--database", nargs="*", type=Path, default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = list(options.database)
        if not files:
            for seed in options.seeds:
                files.append(Path(folder) / f"world {seed}")
                files[-1].write_bytes(build(SITE, seed))
        for file in files:
            db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
            print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
            sentences(db)
            people(db)
            db.close()


if __name__ == "__main__":
    main()
