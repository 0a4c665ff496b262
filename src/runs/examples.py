"""References to ask about, picked from those that there are: one that does not exist, and products from all over."""

import re
from collections.abc import Iterable, Sequence

from src.base.records import Product
from src.tools import REFERENCE

NUMBER = re.compile(r"[0-9]+(?=[^0-9]*$)")  # the last one in a reference


def unused(refs: Iterable[str]) -> str | None:
    """Return a reference that has the form and is not among these, e.g. REF-999; `None` where there is none.

    The highest free number in the place of the last reference's own.
    """
    taken = set(refs)
    last = max(taken, default="")
    place = NUMBER.search(last)
    if place is None:
        return None
    width = len(place[0])
    numbers = range(10**width - 1, max(-1, 10**width - 2 - len(taken)), -1)  # one more than there can be taken
    made = (f"{last[: place.start()]}{number:0{width}}{last[place.end() :]}" for number in numbers)
    return next((ref for ref in made if ref not in taken and REFERENCE.fullmatch(ref)), None)


def spread(products: Sequence[Product], count: int) -> list[Product]:
    """Return `count` of the products, at even distances; one out of stock is among them if there is one."""
    picked = [products[place * len(products) // count] for place in range(count)]
    none_left = next((product for product in products if product["stock"] == 0), None)
    if none_left is not None and all(product["stock"] for product in picked):
        picked[0] = none_left
    return picked
