"""Opens the tables of a date, as views of a database in memory."""

import json

import duckdb

from .store import Refused
from .tables import tables


def open_night(store):
    """Returns a database with a view of each table of the date, and the summary of the date."""
    if not store.summary_path.exists():
        raise Refused(f"the rows of {store.date} are not merged: run `gpulint-fleet merge`")
    database = duckdb.connect()
    for name in tables():
        path = store.table_path(name)
        if not path.exists():
            raise Refused(
                f"another version of gpulint-fleet merged {store.date}, without the table `{name}`: merge it again"
            )
        quoted = str(path).replace("'", "''")
        database.execute(f"create view {name} as select * from read_parquet('{quoted}')")
    return database, json.loads(store.summary_path.read_text())
