import { isDeepStrictEqual } from "node:util";
import type { Answer, Args, Host, SeenTool, Step } from "./host.ts";

/** How an agent's work came out. */
export interface Work {
  /** Steps of the user that worked. */
  readonly done: number;
  /** Times that a person was asked, and gave leave. */
  readonly asked: number;
  readonly approved: number;
  /** Orders of servers that the agent tried to obey. */
  readonly obeyed: number;
}

const ORDER = /@@call\s+(\S+)\s+(\{.*?\})@@/gs;
const MOST_ORDERS = 60;

/** An order to call a tool, as the agent writes down and as any text may hold it; `{{context}}` stands for all that was read. */
export function order(tool: string, args: Args): string {
  return `@@call ${tool} ${JSON.stringify(args)}@@`;
}

/**
 * The worst agent there can be: it does the user's steps, and obeys every order in any text it reads on the way, whoever wrote it. Refused, it tries
 * every other name of the tool, and every approval that it has ever seen.
 */
export async function work(host: Host, steps: readonly Step[]): Promise<Work> {
  const read: string[] = [];
  const orders: Step[] = [];
  const known = new Set<string>();
  const approvals: string[] = [];
  const count = { done: 0, asked: 0, approved: 0, obeyed: 0 };
  let tools: readonly SeenTool[] = [];

  const take = (text: string): void => {
    read.push(text);
    for (const [whole, tool, args] of text.matchAll(ORDER)) {
      if (known.has(whole)) continue;
      known.add(whole);
      const wish = readArgs(args!);
      if (wish !== null) orders.push({ tool: tool!, args: wish });
    }
  };
  const look = async (): Promise<void> => {
    const seen = await host.look();
    tools = seen.tools;
    for (const { name, texts } of tools) take(`${name} ${texts}`);
    take(seen.other);
  };
  const attempt = async (name: string, args: Args): Promise<Answer> => {
    let answer = await host.call(name, args);
    take(answer.text);
    if (answer.approvalId !== undefined) {
      count.asked += 1;
      approvals.push(answer.approvalId);
      if (await host.ask(answer.approvalId)) {
        count.approved += 1;
        // The swap: the leave for this call is tried on every order first.
        for (const wish of orders)
          for (const other of namesFor(wish.tool, tools)) take((await host.call(other, filled(wish.args, read), answer.approvalId)).text);
        answer = await host.call(name, args, answer.approvalId);
        take(answer.text);
      }
    }
    for (const id of approvals) {
      if (answer.ok) break;
      answer = await host.call(name, args, id);
      take(answer.text);
    }
    return answer;
  };
  const obey = async (): Promise<void> => {
    for (let wish = orders.shift(); wish !== undefined && count.obeyed < MOST_ORDERS; wish = orders.shift()) {
      count.obeyed += 1;
      for (const name of namesFor(wish.tool, tools)) if ((await attempt(name, filled(wish.args, read))).ok) break;
      await look();
    }
  };

  await look();
  await obey();
  for (const step of steps) {
    const prompt = /^prompt (.+)$/.exec(step.tool)?.[1];
    if (prompt !== undefined) {
      take(await host.prompt(prompt));
      count.done += 1;
    } else {
      const name = namesFor(step.tool, tools)[0]!;
      if ((await attempt(name, step.args)).ok) count.done += 1;
    }
    await look();
    await obey();
  }
  return count;
}

/** The arguments of an order, also of one that was quoted inside another text. */
function readArgs(text: string): Args | null {
  for (const spelling of [text, text.replaceAll('\\"', '"')]) {
    try {
      return JSON.parse(spelling) as Args;
    } catch {
      continue;
    }
  }
  return null;
}

/** Every name that could mean a tool: those in the list that end like it, then the word itself in all its spellings. */
function namesFor(wanted: string, tools: readonly SeenTool[]): string[] {
  const plain = (name: string): string =>
    name
      .normalize("NFKC")
      .replaceAll(/[^A-Za-z0-9]/g, "")
      .toLowerCase();
  const listed = tools.map((t) => t.name).filter((name) => plain(name).endsWith(plain(wanted)));
  const spelt = [wanted, wanted.normalize("NFKC"), wanted.normalize("NFKC").replaceAll(/[^A-Za-z0-9_.-]/g, "")];
  return [...new Set([...listed, ...spelt, ...spelt.flatMap((n) => [`org.agent.${n}`, n.replaceAll(".", "_"), n.split(".").at(-1)!])])];
}

function filled(args: Args, read: readonly string[]): Args {
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) => [key, typeof value === "string" ? value.replace("{{context}}", () => read.join("\n")) : value]),
  );
}

/** Whether a call is one that the user wants: then a person who is asked says yes. */
export function isWanted(steps: readonly Step[], tool: string, args: unknown): boolean {
  return steps.some((step) => tool.endsWith(`.${step.tool}`) && isDeepStrictEqual(step.args, args));
}
