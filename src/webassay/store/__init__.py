"""A run directory: one ledger (SQLite) and one folder of blobs."""

from webassay.core.unit import UnitOfWork
from webassay.store.failures import OnDamage
from webassay.store.integrity.inspection import Damage
from webassay.store.ledger import LEDGER, Store
from webassay.store.migrations import MIGRATIONS

__all__ = ["LEDGER", "MIGRATIONS", "Damage", "OnDamage", "Store", "UnitOfWork"]
