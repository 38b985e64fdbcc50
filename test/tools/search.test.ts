import { expect, test } from "vitest";
import { indexTools } from "../../src/tools/search.ts";

const index = indexTools([
  { name: "mail_send_message", title: "Send mail", description: "Sends an e-mail to one or more people." },
  { name: "mail_list_messages", description: "Lists the newest messages of a folder.", more: ["folder: name of the folder"] },
  { name: "weather_getForecast", description: "Forecast for a city.", more: ["city"] },
  { name: "im_polaris_weather_get", description: "查询指定城市天气" },
  { name: "files_read", description: "Reads a file. Not for messages." },
]);

function found(query: string, limit?: number): string[] {
  return index.search(query, limit).map((hit) => hit.name);
}

test("names weigh more than descriptions", () => {
  expect(found("read file")[0]).toBe("files_read");
  expect(found("messages").slice(0, 2)).toEqual(expect.arrayContaining(["mail_send_message", "mail_list_messages"]));
  expect(found("messages").at(-1)).toBe("files_read");
});

test("words are split at case and underscores, plurals and beginnings match", () => {
  expect(found("forecast")).toEqual(["weather_getForecast"]);
  expect(found("forec")).toEqual(["weather_getForecast"]);
  expect(found("cities weather city")[0]).toBe("weather_getForecast");
});

test("Chinese is found in pairs of characters", () => {
  expect(found("天气")).toEqual(["im_polaris_weather_get"]);
});

test("nothing asked or known is nothing found", () => {
  expect(found("")).toEqual([]);
  expect(found("!? ..")).toEqual([]);
  expect(found("quantum")).toEqual([]);
  expect(indexTools([]).search("mail")).toEqual([]);
});

test("the limit is kept and the order is the same each time", () => {
  expect(found("mail message", 1)).toHaveLength(1);
  expect(found("weather")).toEqual(found("weather"));
});
