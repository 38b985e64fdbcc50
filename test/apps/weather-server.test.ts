import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startOpenMeteoServer, type OpenMeteoServer } from "../support/open-meteo-server.ts";
import { newFolder, startApp, type AppProcess } from "./app-process.ts";

let provider: OpenMeteoServer;
let weather: AppProcess;

beforeAll(async () => {
  provider = await startOpenMeteoServer();
  weather = await startApp("weather", {
    cwd: await newFolder(),
    env: { OPEN_METEO_GEOCODING_URL: provider.url, OPEN_METEO_FORECAST_URL: provider.url, WEATHER_TIMEOUT_MS: "3000" },
  });
});
afterAll(async () => {
  await weather.stop();
  await provider.close();
});
beforeEach(() => provider.misbehave(undefined));

describe("the weather", () => {
  test("of one day by default, as text and as data that fits the schema", async () => {
    const { data, text, isError } = await weather.call("get_weather", { city: "上海" });
    expect(isError).toBe(false);
    expect(data).toMatchObject({ city: "上海", timezone: "Asia/Shanghai", days: [{ date: "2026-06-17", condition: "晴" }], report: text });
    expect(text).toContain("上海");
    expect((await weather.call("get_weather", { city: "Shanghai", days: 7 })).data["days"]).toHaveLength(7);
  });

  test.each([{}, { city: "上海", days: 0 }, { city: "上海", days: 8 }, { city: "上海", days: "3" }, { city: "上海", days: 1.5 }, { city: " " }, { city: 5 }])(
    "%j is a protocol error",
    async (args) => {
      await expect(weather.call("get_weather", args)).rejects.toMatchObject({ code: -32602 });
    },
  );

  test("failures are results with the guide's fields", async () => {
    expect(await weather.call("get_weather", { city: "Nowhereville" })).toMatchObject({
      isError: true,
      structured: { ok: false, error_code: "CITY_NOT_FOUND", retryable: false },
    });
    provider.misbehave(() => {});
    expect((await weather.call("get_weather", { city: "上海" })).structured).toEqual({
      ok: false,
      error_code: "WEATHER_PROVIDER_TIMEOUT",
      message: "Weather provider timed out.",
      retryable: true,
    });
    provider.misbehave((_request, response) => void response.writeHead(502).end());
    expect((await weather.call("get_weather", { city: "上海" })).structured).toMatchObject({ error_code: "WEATHER_PROVIDER_UNAVAILABLE", retryable: true });
  });

  test("the summary prompt", async () => {
    const { client } = weather;
    expect((await client.listPrompts()).prompts).toEqual([
      {
        name: "weather_summary",
        title: "Weather Summary",
        description: "Generate a user-facing weather summary.",
        arguments: [{ name: "city", description: "City name.", required: true }],
      },
    ]);
    expect((await client.getPrompt({ name: "weather_summary", arguments: { city: "上海" } })).messages).toEqual([
      { role: "user", content: { type: "text", text: "请用简洁自然的中文总结上海天气。" } },
    ]);
    await expect(client.getPrompt({ name: "weather_summary" })).rejects.toMatchObject({ code: -32602 });
    await expect(client.getPrompt({ name: "toString", arguments: { city: "x" } })).rejects.toMatchObject({ code: -32602 });
  });

  test("a call that runs when the host closes stdin is still answered", async () => {
    const other = await startApp("weather", { cwd: await newFolder(), env: { OPEN_METEO_GEOCODING_URL: provider.url, OPEN_METEO_FORECAST_URL: provider.url } });
    provider.misbehave((_request, response) => void setTimeout(() => response.end('{"results":[]}'), 200));
    const call = other.call("get_weather", { city: "slow" });
    const exit = other.stop();
    expect(await call).toMatchObject({ structured: { error_code: "CITY_NOT_FOUND" } });
    expect(await exit).toBe(0);
  });
});
