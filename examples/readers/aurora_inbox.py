#!/usr/bin/env python3
"""Reads an Aurora MCP Kit inbox: one file, no dependencies, Python 3.8 or later.

    from aurora_inbox import Inbox

    for event in Inbox("data/kernel/inbox/pending"):
        print(event.type, event.summary)      # the event counts as handled when the loop asks for the next one

or, with retries and a dead-letter folder:

    Inbox("data/kernel/inbox/pending").run(handle)

or from a shell, one JSON object a line:

    python3 aurora_inbox.py data/kernel/inbox/pending [--once] [--keep]

The protocol (docs/inbox.md): names that start with a dot or do not end in .json are not events. A file is claimed by a rename to
processing/, then handled, then deleted (or moved to done/). What is no event goes to dead/ with a .reason file. An event can come
twice after a crash: its id is the key; ids that were handled are remembered in processing/.handled-py.jsonl.
"""

import argparse
import errno
import hashlib
import json
import os
import re
import stat
import sys
import time
from datetime import datetime, timezone

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 200
TORN_TRIES = 10
TORN_PAUSE = 0.05
REMEMBERED = 20000
SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|\Z)", re.IGNORECASE)


class Rejected(Exception):
    """The file is no event; the text says why."""


class Event:
    """One event. `raw` is the whole JSON object, an AMP envelope or a flat AppEvent."""

    def __init__(self, raw):
        self.raw = raw
        header = raw.get("header")
        payload = raw.get("payload") if header is not None else raw
        if header is not None and not (isinstance(header, dict) and isinstance(payload, dict)):
            raise Rejected("bad-shape: header and payload must be objects")
        self.id = header.get("message_id") if header is not None else raw.get("id")
        self.type = payload.get("type")
        if not (isinstance(self.id, str) and SAFE_ID.match(self.id) and not DEVICE.match(self.id)):
            raise Rejected('bad-id: an id is made of letters, digits, ".", "_" and "-"')
        if not (isinstance(self.type, str) and self.type):
            raise Rejected("bad-shape: the type is missing")
        source = (header or {}).get("source")
        self.app = source.get("app") if isinstance(source, dict) else raw.get("source")
        self.session_id = payload.get("session_id") or None
        self.summary = payload.get("summary") or ""
        self.data = payload.get("data" if header is not None else "payload") or {}
        self.expire_at = payload.get("expire_at")

    @property
    def expired(self):
        """Whether expire_at has passed."""
        if not self.expire_at:
            return False
        try:
            text = re.sub(r"\.(\d{1,6})\d*", lambda m: "." + m.group(1).ljust(6, "0"), self.expire_at.replace("Z", "+00:00"))
            return datetime.fromisoformat(text) <= datetime.now(timezone.utc)
        except (TypeError, ValueError):
            return False


class Inbox:
    """Reads the inbox folder `pending` (`inbox.dir` of the topology). `exclusive`: this is its only reader."""

    def __init__(self, pending, keep_done=False, exclusive=True, claim_seconds=600, poll_seconds=0.2, max_bytes=MAX_BYTES, log=None):
        self.pending = os.path.abspath(pending)
        base = os.path.dirname(self.pending) if os.path.basename(self.pending) == "pending" else self.pending
        self.processing, self.done, self.dead = (os.path.join(base, name) for name in ("processing", "done", "dead"))
        self.keep_done = keep_done
        self.exclusive = exclusive
        self.claim_seconds = claim_seconds
        self.poll_seconds = poll_seconds
        self.max_bytes = max_bytes
        self.log = log or (lambda message: print(message, file=sys.stderr))
        for folder in (self.pending, self.processing, self.done, self.dead):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        self._ledger_file = os.path.join(self.processing, ".handled-py.jsonl")
        self._handled = self._load_ledger()
        if exclusive:
            self._return_claims(0)

    def __iter__(self):
        return self.events()

    def events(self, follow=True):
        """Gives events one by one. An event is handled when the next is asked for; leaving the loop before that gives it again."""
        while True:
            if not self.exclusive:
                self._return_claims(self.claim_seconds)
            names = self._list()
            for name in names:
                claimed = self._claim(name)
                if claimed is None:
                    continue
                file, event, digest = claimed
                finished = False
                try:
                    yield event
                    finished = True
                finally:
                    if not finished and os.path.exists(file):
                        os.rename(file, os.path.join(self.pending, name))
                self._finish(file, name, event, digest)
            if not names:
                if not follow:
                    return
                time.sleep(self.poll_seconds)

    def run(self, handle, attempts=5, retry_seconds=0.5, follow=True):
        """Calls `handle(event)` for each event; one that raises is tried again, and goes to dead/ after `attempts`."""
        for event in self.events(follow):
            pause = retry_seconds
            for attempt in range(1, attempts + 1):
                try:
                    handle(event)
                    break
                except Exception as error:  # The handler is not ours: whatever it raises means "not handled".
                    if attempt == attempts:
                        self._bury(self._file_of(event), "given up after %d attempts: %s" % (attempts, error))
                        break
                    self.log("%s %s: attempt %d failed: %s" % (event.type, event.id, attempt, error))
                    time.sleep(pause)
                    pause = min(pause * 2, 300)

    def _list(self):
        names = [n for n in os.listdir(self.pending) if n.endswith(".json") and not n.startswith(".")]
        return sorted(names, key=lambda n: (n[:-5].rsplit("_", 1)[-1], n))

    def _claim(self, name):
        file = os.path.join(self.processing, name)
        try:
            os.rename(os.path.join(self.pending, name), file)
        except FileNotFoundError:
            return None  # Another reader was quicker.
        try:
            raw = self._read(file)
            event = Event(raw)
        except Rejected as error:
            self._bury(file, str(error))
            return None
        digest = hashlib.sha256(json.dumps(raw, sort_keys=True, ensure_ascii=True).encode("ascii")).hexdigest()[:16]
        earlier = self._handled.get(event.id)
        if earlier is not None:
            if earlier == digest:
                self._put_away(file, name)
            else:
                self._bury(file, "id-conflict: %s was handled before with other content" % event.id)
            return None
        event._name = name
        return file, event, digest

    def _read(self, file):
        for attempt in range(1, TORN_TRIES + 1):
            content = self._content(file)
            try:
                text = content.decode("utf-8-sig")
                if _too_deep(text):
                    raise Rejected("bad-json: nested deeper than %d levels" % MAX_DEPTH)
                value = json.loads(text)
            except (ValueError, RecursionError) as error:
                if attempt == TORN_TRIES:
                    raise Rejected("bad-json: %s" % error)
                time.sleep(TORN_PAUSE)  # A careless writer may still be at it.
                continue
            if not isinstance(value, dict):
                raise Rejected("bad-shape: an event is a JSON object")
            return value

    def _content(self, file):
        # Not through a link, and without waiting for a pipe's other end; then what is open is asked what it is.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(file, flags)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
                raise Rejected("not-a-file: a link, folder or pipe in the place of an event")
            raise
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            os.close(descriptor)
            raise Rejected("not-a-file: a link, folder or pipe in the place of an event")
        with os.fdopen(descriptor, "rb") as stream:
            if info.st_size > self.max_bytes:
                raise Rejected("too-large: over %d bytes" % self.max_bytes)
            return stream.read()

    def _finish(self, file, name, event, digest):
        if not os.path.exists(file):
            return  # run() gave it up.
        self._handled[event.id] = digest
        with open(self._ledger_file, "a", encoding="ascii") as ledger:
            ledger.write(json.dumps([event.id, digest]) + "\n")
            ledger.flush()
            os.fsync(ledger.fileno())
        self._put_away(file, name)

    def _put_away(self, file, name):
        if self.keep_done:
            os.rename(file, os.path.join(self.done, name))
        else:
            os.unlink(file)

    def _file_of(self, event):
        return os.path.join(self.processing, event._name)

    def _bury(self, file, reason):
        name = os.path.basename(file)
        with open(os.path.join(self.dead, name + ".reason"), "w", encoding="utf-8") as note:
            note.write(reason + "\n")
        os.rename(file, os.path.join(self.dead, name))
        self.log("%s went to dead/: %s" % (name, reason))

    def _return_claims(self, older_than):
        for name in os.listdir(self.processing):
            file = os.path.join(self.processing, name)
            try:
                if not name.startswith(".") and time.time() - os.stat(file).st_ctime >= older_than:
                    os.rename(file, os.path.join(self.pending, name))
            except FileNotFoundError:
                pass

    def _load_ledger(self):
        handled = {}
        try:
            with open(self._ledger_file, encoding="ascii") as ledger:
                lines = ledger.readlines()
        except FileNotFoundError:
            return handled
        for line in lines:
            try:
                event_id, digest = json.loads(line)
                handled[event_id] = digest
            except (ValueError, TypeError):
                pass  # A line that a crash tore.
        kept = dict(list(handled.items())[-REMEMBERED:])
        if lines and (len(lines) > len(kept) or not lines[-1].endswith("\n")):
            with open(self._ledger_file + ".tmp", "w", encoding="ascii") as ledger:
                ledger.writelines(json.dumps([k, v]) + "\n" for k, v in kept.items())
                ledger.flush()
                os.fsync(ledger.fileno())
            os.replace(self._ledger_file + ".tmp", self._ledger_file)
        return kept


def _too_deep(text):
    depth = 0
    quoted = False
    for token in re.finditer(r'\\.|["{}\[\]]', text, re.DOTALL):
        c = token.group()
        if c == '"':
            quoted = not quoted
        elif not quoted and c in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif not quoted and c in "}]":
            depth -= 1
    return False


def main():
    parser = argparse.ArgumentParser(description="Prints the events of an Aurora MCP Kit inbox, one JSON object a line.")
    parser.add_argument("pending", help="the inbox folder, for example data/kernel/inbox/pending")
    parser.add_argument("--once", action="store_true", help="stop when the inbox is empty")
    parser.add_argument("--keep", action="store_true", help="move handled files to done/ instead of deleting them")
    options = parser.parse_args()
    for event in Inbox(options.pending, keep_done=options.keep).events(follow=not options.once):
        print(json.dumps(event.raw, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (KeyboardInterrupt, BrokenPipeError):
        pass
