#!/usr/bin/env bash
# Makes a replica of the primary where there is none yet, then runs the command. The slot keeps what the replica has not received.
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  export PGPASSWORD="$REPLICATION_PASSWORD"
  until psql -h "$PRIMARY_HOST" -U replicator -d postgres -c 'select 1' >/dev/null 2>&1; do sleep 1; done
  # What an earlier attempt has left, such as the slot, is made anew.
  rm -rf "${PGDATA:?}"/*
  psql -h "$PRIMARY_HOST" -U replicator -d postgres -qAt \
    -c "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = 'replica' and not active" >/dev/null
  pg_basebackup -h "$PRIMARY_HOST" -U replicator -D "$PGDATA" --checkpoint=fast --wal-method=stream --write-recovery-conf --create-slot --slot=replica
  chmod 700 "$PGDATA"
  if [ "$(id -u)" = 0 ]; then chown -R postgres:postgres "$PGDATA"; fi
fi
exec "$@"
