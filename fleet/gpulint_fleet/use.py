"""Writes what all repositories use, so that a pull request can add the rest of the organization to its budgets."""

import csv
import io
from pathlib import Path

from . import commands
from .budgets import NAMED
from .night import open_night
from .scratch import scratch
from .store import Refused, write

HEADER = ("repository", "by", "value", "expected_micro_usd", "unpriced")

SIGN_SECONDS = 60
SIGNATURE_BYTES = 64

# The resources whose cost is in the sums, and those whose cost is unknown.
USED = """
create table used as select repository, labels, labels_open, coalesce(in_sum_expected_micro_usd, 0) as micro_usd,
  (adds_up and status = 'unpriced')::bigint as unpriced
from resources where in_sum_expected_micro_usd is not null or adds_up and status = 'unpriced'
"""

# A row for each repository and selector. A resource whose label is unknown may belong to a budget, so its cost there is unknown.
ROWS = """
select repository, "by", value, sum(micro_usd)::varchar as micro_usd, sum(unpriced)::varchar as unpriced from (
  select repository, 'all' as "by", '' as value, coalesce(micro_usd, 0) as micro_usd, coalesce(used.unpriced, 0) as unpriced
    from repositories left join used using (repository) where repositories.status in ('ok', 'empty')
  union all
  select repository, key, labels[key], micro_usd, unpriced
    from used, (select unnest($named) as key) where labels[key] is not null
  union all
  select repository, 'label', key || '=' || wanted, micro_usd, unpriced
    from used, (select unnest($keys::varchar[]) as key, unnest($wanted::varchar[]) as wanted) where labels[key] = wanted
  union all
  select repository, "by", value, 0, 1
    from used, (select distinct "by", value, case "by" when 'label' then split_part(value, '=', 1) else "by" end as key
      from budgets where "by" <> 'all')
    where labels[key] is null and (labels_open or list_contains(map_keys(labels), key)) and (micro_usd > 0 or unpriced > 0)
) group by all
union all select repository, 'unread', status, '0', '0' from repositories where status not in ('ok', 'empty')
"""


def is_listed(pair):
    """Returns whether the second line of the file can contain a label, because commas separate the labels there."""
    return pair == pair.strip() and not any(it in pair for it in ",\r\n")


def use(store):
    """Returns the use of a date as text. The same tables give the same bytes."""
    database, summary = open_night(store)
    found = database.execute("select distinct value from budgets where \"by\" = 'label' order by 1").fetchall()
    pairs = [pair for (pair,) in found if is_listed(pair)]
    keys, wanted = ([pair.partition("=")[at] for pair in pairs] for at in (0, 2))
    database.execute(USED)
    rows = database.execute(ROWS, {"named": list(NAMED), "keys": keys, "wanted": wanted}).fetchall()
    rows += [(name, "unread", "not scanned", "0", "0") for name in summary["not_scanned"]]
    text = io.StringIO(newline="")
    text.write(f"# Use of gpulint-fleet, {store.date}\n# labels:{' ' * bool(pairs)}{','.join(pairs)}\n")
    out = csv.writer(text, lineterminator="\n")
    out.writerows([HEADER, *sorted(rows)])
    return text.getvalue()


def sign(path, key):
    """Signs a file with an Ed25519 key in PEM. The signature is a line of hexadecimal digits, as `packaging/sign.sh` writes it."""
    openssl = commands.find_program("openssl")
    with scratch() as directory:
        signature = Path(directory, "signature")
        arguments = [openssl, "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", path, "-out", signature]
        done = commands.run([str(it) for it in arguments], SIGN_SECONDS, env=commands.environment())
        signed = signature.read_bytes() if done.code == 0 else b""
    if len(signed) != SIGNATURE_BYTES:
        raise Refused(
            f"openssl cannot sign with `{key}`: name an Ed25519 key, as `openssl genpkey -algorithm ed25519 -out KEY.pem` makes it"
        )
    write(f"{path}.sig", signed.hex() + "\n")
