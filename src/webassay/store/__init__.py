"""A run directory: one ledger (SQLite) and one folder of blobs."""

from webassay.core.unit import UnitOfWork
from webassay.store.failures import OnDamage
from webassay.store.integrity.inspection import Damage
from webassay.store.ledger import LEDGER, Store

__all__ = ["LEDGER", "Damage", "OnDamage", "Store", "UnitOfWork"]
