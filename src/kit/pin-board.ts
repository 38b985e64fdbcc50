import { messageOf } from "../base/errors.ts";
import { own } from "../base/json.ts";
import type { ToolsLock } from "../../generated/tools-lock.d.ts";
import type { PinStore } from "../calls/pin-store.ts";
import type { LockFile } from "../files/lock-file.ts";
import type { AppStatus, LockEntry } from "../kit-api.ts";
import type { AppPlan } from "../plan/types.ts";
import type { Logger } from "../runtime/ports.ts";
import { acceptInto, EMPTY_LOCK, selectDifferences, type LockChange, type LockSelection } from "../tools/lock.ts";
import { findingsOf, judgePins, lockDifferences, pinItems, selector, type PinItem, type PinKind, type PinMode, type PinVerdict } from "../tools/pins.ts";
import type { AppListing } from "../tools/types.ts";

/** What pins say of one item, for lists and calls. */
export interface PinAnswer {
  readonly accepted: boolean;
  readonly reason: string | null;
}

/** Judges what servers show against what was accepted, and takes acceptances. */
export interface PinBoard {
  /** Judges a listing; under `first_use` what is seen for the first time is pinned. */
  admit(plan: AppPlan, listing: AppListing): void;
  check(app: string, kind: PinKind, name: string): PinAnswer;
  verdict(app: string, kind: PinKind, name: string): PinVerdict | undefined;
  /** Reads tools.lock.json again and judges everything anew. Rejects when the file cannot be used; the last good lock then stays. */
  reload(): Promise<void>;
  diff(): LockEntry[];
  /** What the lint finds in what an app shows, accepted or not. */
  findings(app: string): AppStatus["findings"];
  /** Accepts all that waits, or only what is selected. Gives what was accepted. Rejects with a ConflictError when something is not as it was seen; nothing is accepted then. */
  accept(selection?: LockSelection): Promise<LockEntry[]>;
  /** Resolves when no pins are being stored. */
  settled(): Promise<void>;
  /** Takes over a changed configuration: apps gone from it are forgotten, the others judged by their new trust. */
  follow(apps: ReadonlyMap<string, AppPlan>): void;
}

/** What the board works with. */
export interface PinBoardDeps {
  readonly store: PinStore;
  readonly lockFile: () => LockFile;
  readonly mode: () => PinMode;
  /** Gives the text lint for an app as the topology stands now. */
  readonly lint: (app: string) => (item: PinItem) => readonly string[];
  readonly onQuarantine: (app: string, verdict: PinVerdict) => void;
  readonly log: Logger;
}

interface Seen {
  plan: AppPlan;
  listing: AppListing;
  verdicts: Map<string, PinVerdict>;
  /** Null until somebody asks; what other apps show has a bearing on it. */
  findings: AppStatus["findings"] | null;
}

/** Makes a board; call {@link PinBoard.reload} once before the first listing. */
export function createPinBoard(deps: PinBoardDeps): PinBoard {
  /** The newest write of first-use pins; the document is written as a whole, so the last one holds them all. */
  let storing: Promise<unknown> = Promise.resolve();
  const seen = new Map<string, Seen>();
  let lock: ToolsLock = EMPTY_LOCK;
  const key = (kind: PinKind, name: string): string => `${kind} ${name}`;

  const judge = (plan: AppPlan, listing: AppListing): Map<string, PinVerdict> => {
    const app = plan.package;
    const context = {
      app,
      mode: deps.mode(),
      trust: plan.trust,
      locked: own(lock.apps, app) as ToolsLock["apps"][string] | undefined,
      automatic: deps.store.automatic(app),
      findings: deps.lint(app),
    };
    const verdicts = judgePins(context, pinItems(listing));
    const fresh = verdicts.filter((v) => v.state === "first_use");
    if (fresh.length > 0)
      storing = deps.store.adopt(app, fresh).catch((error: unknown) => deps.log.error({ app, error: messageOf(error) }, "first-use pins could not be stored"));
    return new Map(verdicts.map((v) => [key(v.kind, v.name), v]));
  };
  const tell = (app: string, before: Map<string, PinVerdict> | undefined, now: Map<string, PinVerdict>): void => {
    for (const [id, verdict] of now) {
      const old = before?.get(id);
      if (!verdict.usable && (old === undefined || old.usable || old.pin !== verdict.pin)) deps.onQuarantine(app, verdict);
    }
  };
  const board: PinBoard = {
    admit(plan, listing) {
      const verdicts = judge(plan, listing);
      tell(plan.package, seen.get(plan.package)?.verdicts, verdicts);
      seen.set(plan.package, { plan, listing, verdicts, findings: null });
      for (const entry of seen.values()) entry.findings = null;
    },
    check(app, kind, name) {
      const verdict = seen.get(app)?.verdicts.get(key(kind, name));
      return verdict ? { accepted: verdict.usable, reason: verdict.reason } : { accepted: false, reason: "it has not been listed yet" };
    },
    verdict: (app, kind, name) => seen.get(app)?.verdicts.get(key(kind, name)),
    async reload() {
      lock = await deps.lockFile().read();
      for (const entry of seen.values()) entry.verdicts = judge(entry.plan, entry.listing);
    },
    diff() {
      return [...seen.entries()]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([app, { listing }]) =>
          lockDifferences(
            app,
            pinItems(listing),
            own(lock.apps, app) as ToolsLock["apps"][string] | undefined,
            deps.store.automatic(app),
            deps.store.definition,
            deps.lint(app),
          ).map((entry) => ({ ...entry, quarantined: entry.state !== "removed" && !board.check(app, entry.kind, entry.name).accepted })),
        );
    },
    findings(app) {
      const entry = seen.get(app);
      if (!entry) return [];
      const lint = deps.lint(app);
      entry.findings ??= pinItems(entry.listing).flatMap((item) => findingsOf(item, lint).map((finding) => ({ item: selector(app, item), finding })));
      return entry.findings;
    },
    async accept(selection) {
      const wanted = selectDifferences(board.diff(), selection);
      const changes: LockChange[] = wanted.map((e) => ({ app: e.app, kind: e.kind, name: e.name, pin: e.pin, seen: e.accepted }));
      // Taken now: what a server shows while the file is written was seen by nobody.
      const items = [...seen].map(([app, { listing }]) => ({
        app,
        items: pinItems(listing).filter((item) => wanted.some((w) => w.app === app && w.kind === item.kind && w.name === item.name)),
      }));
      await deps.lockFile().update((current) => acceptInto(current, changes));
      for (const of of items) if (of.items.length > 0) await deps.store.accept(of.app, of.items);
      await board.reload();
      return wanted;
    },
    async settled() {
      await storing;
    },
    follow(apps) {
      for (const [app, entry] of seen) {
        const plan = apps.get(app);
        if (!plan) seen.delete(app);
        else if (plan !== entry.plan) {
          const judgeAgain = plan.trust !== entry.plan.trust;
          entry.plan = plan;
          if (judgeAgain) entry.verdicts = judge(plan, entry.listing);
        }
      }
    },
  };
  return board;
}
