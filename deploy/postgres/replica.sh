#!/usr/bin/env bash
# Makes a replica of the primary where there is none yet, then runs the command. The slot keeps what the replica has not received.
set -euo pipefail
if [ ! -s "$PGDATA/global/pg_control" ]; then
  export PGPASSWORD="$REPLICATION_PASSWORD"
  until psql -h "$PRIMARY_HOST" -U replicator -d postgres -c 'select 1' >/dev/null 2>&1; do sleep 1; done
  # What an attempt that was ended has left, such as the slot, is made anew.
  rm -rf "${PGDATA:?}"/*
  psql -h "$PRIMARY_HOST" -U replicator -d postgres -qAt \
    -c "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = 'replica' and not active" >/dev/null
  copy="$PGDATA/copy"
  pg_basebackup -h "$PRIMARY_HOST" -U replicator -D "$copy" --checkpoint=fast --wal-method=stream --write-recovery-conf --create-slot --slot=replica
  chmod 700 "$PGDATA"
  if [ "$(id -u)" = 0 ]; then chown -R postgres:postgres "$PGDATA"; fi
  # The folder with pg_control comes last: where it is, the copy is complete.
  find "$copy" -mindepth 1 -maxdepth 1 ! -name global -exec mv -t "$PGDATA" {} +
  mv "$copy/global" "$PGDATA"
  rmdir "$copy"
fi
exec "$@"
