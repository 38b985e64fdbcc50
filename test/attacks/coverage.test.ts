import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

const KINDS = [
  "approval",
  "benign",
  "control-api-auth",
  "csrf",
  "dns-rebinding",
  "dos",
  "env-leak",
  "header-injection",
  "inbox",
  "log-injection",
  "oauth",
  "policy-bypass",
  "prototype",
  "rate-limit",
  "redos",
  "result-injection",
  "rug-pull",
  "secret-redaction",
  "session",
  "shadowing",
  "taint-flow",
  "tool-poisoning",
  "yaml",
];

/** Which test shows that an attack does not work, or that a harmless look-alike does: file, then the attack and words of the test (the same where the test bears its name). */
const SHOWN_IN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "test/amp/mapping.test.ts": {
    "prototype-04": "{params.__proto__}",
  },
  "test/attacks/data-flow.test.ts": {
    "benign-11": "benign-11",
    "benign-12": "benign-12",
    "result-injection-01": "result-injection-01",
    "result-injection-02": "result-injection-02",
    "result-injection-04": "result-injection-04",
    "result-injection-05": "result-injection-05",
    "taint-flow-02": "taint-flow-02",
    "taint-flow-06": "taint-flow-06",
    "taint-flow-07": "taint-flow-07",
    "taint-flow-09": "taint-flow-09",
    "taint-flow-10": "taint-flow-10",
    "taint-flow-11": "taint-flow-11",
    "taint-flow-12": "taint-flow-06, -12",
    "taint-flow-14": "taint-flow-14",
  },
  "test/attacks/decisions.test.ts": {
    "approval-01": "approval-01",
    "approval-02": "approval-01, -02",
    "approval-05": "approval-05",
    "approval-07": "approval-07",
    "approval-09": "approval-09",
    "approval-10": "approval-10",
    "approval-12": "approval-09, -12",
    "benign-07": "benign-07",
    "benign-10": "benign-10",
    "policy-bypass-03": "policy-bypass-03",
    "policy-bypass-05": "policy-bypass-05",
    "policy-bypass-09": "policy-bypass-09",
    "policy-bypass-10": "policy-bypass-10",
    "policy-bypass-11": "policy-bypass-11",
    "policy-bypass-12": "policy-bypass-12",
    "policy-bypass-13": "policy-bypass-13",
    "policy-bypass-15": "policy-bypass-15",
    "policy-bypass-17": "policy-bypass-17",
    "prototype-02": "prototype-02",
    "rate-limit-01": "rate-limit-01",
    "rate-limit-03": "rate-limit-01, -03",
  },
  "test/attacks/listing.test.ts": {
    "benign-03": "benign-03",
    "benign-04": "benign-04",
    "rug-pull-01": "rug-pull-01",
    "rug-pull-06": "rug-pull-06",
    "rug-pull-07": "rug-pull-07",
    "rug-pull-08": "rug-pull-08",
    "rug-pull-12": "rug-pull-12",
    "rug-pull-13": "rug-pull-13",
    "shadowing-02": "shadowing-02",
    "shadowing-03": "shadowing-03",
    "shadowing-05": "shadowing-05",
    "tool-poisoning-03": "tool-poisoning-03",
    "tool-poisoning-05": "tool-poisoning-05",
    "tool-poisoning-06": "tool-poisoning-06",
    "tool-poisoning-07": "tool-poisoning-07",
    "tool-poisoning-08": "tool-poisoning-08",
    "tool-poisoning-10": "tool-poisoning-10",
    "tool-poisoning-12": "tool-poisoning-12",
    "tool-poisoning-13": "tool-poisoning-13",
    "tool-poisoning-14": "tool-poisoning-14",
    "tool-poisoning-15": "tool-poisoning-15",
    "tool-poisoning-17": "tool-poisoning-17",
    "tool-poisoning-19": "tool-poisoning-19",
  },
  "test/attacks/secrets.test.ts": {
    "oauth-08": "oauth-08",
    "secret-redaction-01": "the %s secret, in no form",
    "secret-redaction-04": "the %s secret, in no form",
    "secret-redaction-05": "[SECRETS.header]: 1",
    "secret-redaction-06": "JSON.stringify({ t: SECRETS.env })",
  },
  "test/base/masking.test.ts": {
    "secret-redaction-08": "in errors with stack and causes",
  },
  "test/calls/approvals.test.ts": {
    "result-injection-13": "arguments cannot change the layout or hide anything",
  },
  "test/calls/audit.test.ts": {
    "benign-09": "and read back as they were",
    "log-injection-01": "are one line each, whatever their arguments say",
    "log-injection-04": "finds a log that was written anew",
  },
  "test/calls/call-journal.test.ts": {
    "log-injection-05": "without a place for its audit record",
  },
  "test/calls/limits.test.ts": {
    "rate-limit-05": "the count stays over a restart",
  },
  "test/calls/pins.test.ts": {
    "rug-pull-14": "writers at the same moment lose nothing",
  },
  "test/calls/sessions.test.ts": {
    "rate-limit-06": "with too many session names a client is marked as a whole",
  },
  "test/config/messages.test.ts": {
    "header-injection-01": "holds a line break",
    "yaml-06": "files cannot pull in others",
    "yaml-07": "a policy word that is misspelt is never no policy",
  },
  "test/config/parse.test.ts": {
    "yaml-02": "duplicate",
    "yaml-03": "!!js",
    "yaml-05": "---",
  },
  "test/config/variables.test.ts": {
    "env-leak-04": "a secret on a command line is a warning",
    "header-injection-02": "a line break that a variable brings into a header",
  },
  "test/control/door-guards.test.ts": {
    "control-api-auth-05": "refuses to listen beyond loopback without a token and TLS",
    "csrf-01": "takes only application/json, and never a cookie as a token",
    "csrf-03": "gives no CORS permission",
    "dns-rebinding-01": "is checked before a byte of the body arrives",
    "dns-rebinding-04": "localhost.evil",
    "dns-rebinding-05": "@evil",
    "dns-rebinding-07": "[::1]",
    "dos-02": "cuts off heads that trickle",
    "dos-03": "cuts off a body that trickles",
    "dos-04": "refuses compressed and oversized bodies",
  },
  "test/control/routes.test.ts": {
    "control-api-auth-01": "no route but the public ones answers without a token",
    "control-api-auth-02": "the agent that asks cannot approve, whichever its token",
    "control-api-auth-06": "counts calls, decisions and reloads, without arguments, texts or tokens",
    "secret-redaction-09": "counts calls, decisions and reloads, without arguments, texts or tokens",
  },
  "test/files/inbox.test.ts": {
    "inbox-02": "id %j is refused",
    "inbox-03": "id %j is refused",
    "inbox-04": "id %j is refused",
  },
  "test/files/reader.test.ts": {
    "inbox-06": "ids that differ in case are two",
    "inbox-10": "half a file that becomes whole is handled once",
    "inbox-11": "the same id again is dropped",
    "inbox-12": "with other content it is a conflict",
    "inbox-13": "a file that is too large is not even read",
    "inbox-14": "bad-json",
    "inbox-16": "handles every event once",
  },
  "test/gateway/methods.test.ts": {
    "policy-bypass-16": "answers a call of a hidden denied tool as one of an unknown tool",
  },
  "test/gateway/sessions.test.ts": {
    "dos-06": "refuses batches",
    "session-01": "are bound to their principal",
    "session-02": "stays within the own session",
    "session-03": "have ids that the server chooses",
    "session-04": "end with DELETE",
  },
  "test/kit/calls.test.ts": {
    "result-injection-07": "refuses a result over the limit",
    "result-injection-08": "checks results against outputSchema",
  },
  "test/kit/client-features.test.ts": {
    "tool-poisoning-21": "gives nothing by default",
    "tool-poisoning-22": "refuses a form that asks for a password",
  },
  "test/mcp/calls.test.ts": {
    "result-injection-11": "const stray =",
  },
  "test/mcp/http.test.ts": {
    "header-injection-05": "for a link-local or metadata address is refused",
  },
  "test/mcp/listing.test.ts": {
    "rug-pull-09": "over a real wire ends for a cursor that is ignored",
  },
  "test/mcp/oauth.test.ts": {
    "oauth-02": "is promised but missing",
    "oauth-05": "never opens %s",
    "oauth-06": "hands the browser an address as one argument",
    "oauth-07": "never shows credentials to another authorization server",
  },
  "test/mcp/process-end.test.ts": {
    "env-leak-06": "leaves nothing of `sh -c",
  },
  "test/mcp/process-start.test.ts": {
    "env-leak-01": "holds safe basics, inherit_env and env, and nothing else",
    "env-leak-05": "holds safe basics, inherit_env and env, and nothing else",
  },
  "test/policy/decide.test.ts": {
    "prototype-03": "names that objects are born with are ordinary names",
    "secret-redaction-11": "are denied, unless a rule allows the very call",
  },
  "test/policy/match-args.test.ts": {
    "redos-03": "a pattern that freezes the built-in engine runs in linear time",
  },
  "test/policy/rules.test.ts": {
    "redos-04": "{0,1000}",
  },
  "test/runtime/parts.test.ts": {
    "dos-08": "back-off",
  },
  "test/tools/short-names.test.ts": {
    "shadowing-04": "legal, one to one, whatever the order",
  },
};

it.each(Object.entries(SHOWN_IN))("%s has its tests of attacks", async (file, tests) => {
  const text = await readFile(new URL(`../../${file}`, import.meta.url), "utf8");
  expect(Object.entries(tests).filter(([, words]) => !text.includes(words))).toEqual([]);
});

it("every kind of attack is there", () => {
  const kinds = new Set(Object.values(SHOWN_IN).flatMap((tests) => Object.keys(tests).map((id) => id.replace(/-\d+$/, ""))));
  expect([...kinds].sort()).toEqual(KINDS);
});
