import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { getWeather, type WeatherOptions } from "../../apps/aurora-app-weather/service.ts";
import { condition } from "../../apps/aurora-app-weather/texts.ts";
import { startOpenMeteoServer, type OpenMeteoServer } from "../support/open-meteo-server.ts";

let server: OpenMeteoServer;
let options: WeatherOptions;

beforeAll(async () => {
  server = await startOpenMeteoServer();
  options = { geocodingUrl: server.url, forecastUrl: `${server.url}/`, timeout: 5000, language: "zh" };
});
afterAll(() => server.close());
beforeEach(() => {
  server.misbehave(undefined);
  server.requests.length = 0;
});

const failure = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    () => "no error",
    ({ code, retryable }: { code: string; retryable: boolean }) => [code, retryable],
  );

describe("weather", () => {
  test("comes from the place's coordinates, for the days asked for", async () => {
    const weather = await getWeather(" 上海 ", 3, options);
    expect(weather).toMatchObject({
      city: "上海",
      region: "上海市",
      country: "中国",
      timezone: "Asia/Shanghai",
      current: { condition: "多云", temperature: 25.5, time: "2026-06-17T14:30" },
    });
    expect(weather.days.map((day) => [day.date, day.condition, day.precipitation_probability])).toEqual([
      ["2026-06-17", "晴", 20],
      ["2026-06-18", "小雨", null],
      ["2026-06-19", "雷雨", 22],
    ]);
    expect(weather.report).toBe(
      "上海，上海市，中国未来 3 天天气\n现在：多云，25.5°C，湿度 25.5%，风速 25.5 km/h\n2026-06-17：晴，20~20°C，降水概率 20%，风速 20 km/h\n2026-06-18：小雨，21~21°C，风速 21 km/h\n2026-06-19：雷雨，22~22°C，降水概率 22%，风速 22 km/h",
    );
    const [search, forecast] = server.requests;
    expect([search?.pathname, search?.searchParams.get("name"), search?.searchParams.get("language")]).toEqual(["/v1/search", "上海", "zh"]);
    expect([
      forecast?.pathname,
      forecast?.searchParams.get("latitude"),
      forecast?.searchParams.get("forecast_days"),
      forecast?.searchParams.get("timezone"),
    ]).toEqual(["/v1/forecast", "31.22222", "3", "auto"]);
  });

  test("speaks English when told to", async () => {
    const weather = await getWeather("Berlin", 1, { ...options, language: "en" });
    expect(weather.report).toContain("Weather in Berlin, Deutschland, 1 day(s)\nNow: partly cloudy, 25.5°C");
    expect(server.requests[0]?.searchParams.get("language")).toBe("en");
  });

  test("a code without words keeps its number", () => {
    expect([condition(4, "zh"), condition(4, "en"), condition(null, "en")]).toEqual(["天气代码 4", "weather code 4", "unknown"]);
  });
});

describe("failures", () => {
  test("a city nobody knows", async () => {
    expect(await failure(getWeather("Nowhereville", 1, options))).toEqual(["CITY_NOT_FOUND", false]);
    expect(server.requests).toHaveLength(1);
  });

  test("a provider that does not answer, or stops in the middle", async () => {
    server.misbehave(() => {});
    expect(await failure(getWeather("上海", 1, { ...options, timeout: 150 }))).toEqual(["WEATHER_PROVIDER_TIMEOUT", true]);
    server.misbehave((_request, response) => void response.writeHead(200).write('{"results":'));
    expect(await failure(getWeather("上海", 1, { ...options, timeout: 150 }))).toEqual(["WEATHER_PROVIDER_TIMEOUT", true]);
  });

  test("a provider that is not there, or hangs up", async () => {
    expect(await failure(getWeather("上海", 1, { ...options, geocodingUrl: "http://127.0.0.1:9" }))).toEqual(["WEATHER_PROVIDER_UNAVAILABLE", true]);
    server.misbehave((request) => request.socket.destroy());
    expect(await failure(getWeather("上海", 1, options))).toEqual(["WEATHER_PROVIDER_UNAVAILABLE", true]);
  });

  test.each([
    [503, "busy", "WEATHER_PROVIDER_UNAVAILABLE", true],
    [429, '{"error":true,"reason":"Daily API request limit exceeded."}', "WEATHER_PROVIDER_RATE_LIMITED", true],
    [400, '{"error":true,"reason":"Bad."}', "WEATHER_PROVIDER_REJECTED", false],
    [302, "", "WEATHER_PROVIDER_REJECTED", false],
    [200, "<html>", "WEATHER_PROVIDER_INVALID", false],
    [200, "[]", "WEATHER_PROVIDER_INVALID", false],
    [200, '{"results":[{"name":"x","latitude":"a"}]}', "WEATHER_PROVIDER_INVALID", false],
    [200, `{"results":"${"x".repeat(1_100_000)}"}`, "WEATHER_PROVIDER_INVALID", false],
  ])("status %i with %.40s is %s", async (status, body, code, retryable) => {
    server.misbehave((_request, response) => void response.writeHead(status, { location: "http://127.0.0.1:9/" }).end(body));
    expect(await failure(getWeather("上海", 1, options))).toEqual([code, retryable]);
  });

  test("a forecast without its days", async () => {
    server.misbehave(
      (request, response) =>
        void response.end(request.url?.startsWith("/v1/search") ? '{"results":[{"name":"x","latitude":1,"longitude":2}]}' : '{"timezone":"UTC","current":{}}'),
    );
    expect(await failure(getWeather("x", 1, options))).toEqual(["WEATHER_PROVIDER_INVALID", false]);
  });

  test("the provider's reason is told", async () => {
    await expect(getWeather("上海", 99, options)).rejects.toThrow("Forecast days is invalid");
  });

  test("a caller who gives up is no failure of the provider", async () => {
    server.misbehave(() => {});
    const caller = new AbortController();
    const run = getWeather("上海", 1, options, caller.signal);
    setTimeout(() => caller.abort(), 50);
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
  });
});
