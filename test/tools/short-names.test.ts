import fc from "fast-check";
import { runs } from "../support/explore.ts";
import { describe, expect, test } from "vitest";
import { shortNames, type NamedTool } from "../../src/tools/names.ts";

function tool(app: string, name: string): NamedTool {
  return { app, tool: name, full: app === "" ? name : `${app}.${name}` };
}

function namesOf(...tools: NamedTool[]): Record<string, string> {
  return Object.fromEntries(shortNames(tools));
}

test("dots become underscores; what is legal stays", () => {
  expect(namesOf(tool("im.polaris.qq", "send_message"), tool("", "read-file"), tool("", "files/Read File"))).toEqual({
    "im.polaris.qq.send_message": "im_polaris_qq_send_message",
    "read-file": "read-file",
    "files/Read File": "files_Read_File",
  });
});

test("a legal name keeps the plain form, others that claim it get a hash", () => {
  const names = namesOf(tool("a", "read.file"), tool("a", "read_file"), tool("a", "read-file"));
  expect(names["a.read_file"]).toBe("a_read_file");
  expect(names["a.read-file"]).toBe("a_read-file");
  expect(names["a.read.file"]).toMatch(/^a_read_file_[a-z2-7]{8}$/);
});

test("names without a readable character carry a hash of their own", () => {
  const names = Object.values(namesOf(tool("", "获取天气"), tool("", "查询天气"), tool("im.x", "获取天气")));
  expect(new Set(names).size).toBe(3);
  for (const name of names) expect(name).toMatch(/^[a-zA-Z][a-zA-Z0-9_-]*_[a-z2-7]{8}$/);
});

describe("long names", () => {
  const [create, remove] = ["create", "delete"].map((verb) =>
    tool("atlassian-rovo-mcp-server-cloud", `${verb}ConfluencePageWithAttachmentsAndPermissionsForWholeSpaceAndChildren`),
  );

  test("are cut, readable and different", () => {
    const names = namesOf(create!, remove!);
    expect(names[create!.full]).toMatch(/^createConfluencePage\w+_[a-z2-7]{8}$/);
    expect(names[remove!.full]).toMatch(/^deleteConfluencePage\w+_[a-z2-7]{8}$/);
    expect(names[create!.full]).toHaveLength(64);
  });

  test("keep to another limit when asked", () => {
    for (const name of shortNames([create!, remove!], { max: 60 }).values()) expect(name.length).toBeLessThanOrEqual(60);
  });
});

test("two apps with the same tool", () => {
  expect(namesOf(tool("intercom", "search"), tool("jira", "search"))).toEqual({ "intercom.search": "intercom_search", "jira.search": "jira_search" });
});

const tools = fc.uniqueArray(
  fc
    .tuple(
      fc.constantFrom("", "a", "a.b", "a_b", "im.polaris.qq", "x".repeat(60)),
      fc.oneof(fc.string({ minLength: 1, maxLength: 90 }), fc.constantFrom("b.c", "b_c", "c", "read.file", "read_file", "__proto__", "1st")),
    )
    .map(([app, name]) => tool(app, name)),
  { selector: (t) => t.full, maxLength: 12 },
);

test("legal, one to one, whatever the order", () => {
  fc.assert(
    fc.property(tools, fc.integer({ min: 20, max: 64 }), (list, max) => {
      const names = shortNames(list, { max });
      expect(new Set(names.values()).size).toBe(list.length);
      for (const name of names.values()) expect(name).toMatch(new RegExp(`^[A-Za-z][A-Za-z0-9_-]{0,${max - 1}}$`));
      expect(shortNames([...list].reverse(), { max })).toEqual(names);
    }),
    runs(1000),
  );
});

test("a name changes only when another tool claims the very same plain form", () => {
  fc.assert(
    fc.property(tools, tools, (list, others) => {
      const added = others.filter((other) => !list.some((t) => t.full === other.full));
      const before = shortNames(list);
      const after = shortNames([...list, ...added]);
      const plain = (full: string): string =>
        full
          .replace(/[^A-Za-z0-9_-]+/g, "_")
          .replace(/^[_-]+/, "")
          .replace(/^(?=[^A-Za-z])/, "t_");
      const suffixedForms = new Set([...after.values()]);
      for (const { full } of list) {
        if (before.get(full) === after.get(full)) continue;
        expect(added.some((other) => plain(other.full) === plain(full) || suffixedForms.has(other.full))).toBe(true);
      }
    }),
    runs(1000),
  );
});
