import "../common/protocol-stdout.ts"; // First: nothing but the protocol may reach stdout.
import type { CommonConfig, ConfigSpec } from "../common/config.ts";
import { serveApp } from "../common/serve-app.ts";
import { defineTool, inputObject, type Tool } from "../common/tool.ts";
import { getWeather, type WeatherOptions } from "./service.ts";
import { LANGUAGES, summaryPrompt, type Language } from "./texts.ts";

interface WeatherConfig extends CommonConfig {
  readonly geocoding_url: string;
  readonly forecast_url: string;
  readonly timeout_ms: number;
  readonly language: Language;
}

const URL_SETTING = { type: "string", format: "http-url" };
const CONFIG: ConfigSpec = {
  properties: {
    geocoding_url: { ...URL_SETTING, default: "https://geocoding-api.open-meteo.com" },
    forecast_url: { ...URL_SETTING, default: "https://api.open-meteo.com" },
    timeout_ms: { type: "integer", minimum: 100, maximum: 60_000, default: 8000 },
    language: { enum: [...LANGUAGES], default: "zh" },
  },
  env: { OPEN_METEO_GEOCODING_URL: "geocoding_url", OPEN_METEO_FORECAST_URL: "forecast_url", WEATHER_TIMEOUT_MS: "timeout_ms", WEATHER_LANGUAGE: "language" },
};

const NUMBER = { type: ["number", "null"] };
const TEXT = { type: "string" };

await serveApp<WeatherConfig>({
  package: "im.polaris.weather",
  title: "天气应用",
  version: "0.2.0",
  config: CONFIG,
  open: (config) => ({
    tools: [weatherTool({ geocodingUrl: config.geocoding_url, forecastUrl: config.forecast_url, timeout: config.timeout_ms, language: config.language })],
    prompts: [
      {
        name: "weather_summary",
        title: "Weather Summary",
        description: "Generate a user-facing weather summary.",
        arguments: [{ name: "city", description: "City name.", required: true }],
        render: (args) => summaryPrompt(args["city"] ?? "", config.language),
      },
    ],
  }),
});

function weatherTool(options: WeatherOptions): Tool {
  return defineTool<{ city: string; days: number }>({
    name: "get_weather",
    title: "Weather Query",
    description: "Query current weather and forecast for a city.",
    inputSchema: inputObject(
      {
        city: { type: "string", minLength: 1, maxLength: 100, pattern: "\\S", description: "City name, in any language." },
        days: { type: "integer", minimum: 1, maximum: 7, default: 1, description: "Days of forecast, today included." },
      },
      ["city"],
    ),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    dataSchema: {
      type: "object",
      properties: {
        city: TEXT,
        region: TEXT,
        country: TEXT,
        latitude: { type: "number" },
        longitude: { type: "number" },
        timezone: TEXT,
        current: object({ time: TEXT, condition: TEXT, temperature: NUMBER, apparent_temperature: NUMBER, humidity: NUMBER, wind_speed: NUMBER }),
        days: {
          type: "array",
          items: object({
            date: TEXT,
            condition: TEXT,
            temperature_min: NUMBER,
            temperature_max: NUMBER,
            precipitation_probability: NUMBER,
            precipitation_sum: NUMBER,
            wind_speed_max: NUMBER,
          }),
        },
        report: { type: "string", description: "All of it as a short text." },
      },
      required: ["city", "latitude", "longitude", "timezone", "current", "days", "report"],
      additionalProperties: false,
    },
    run: async (args, { signal }) => {
      const weather = await getWeather(args.city, args.days, options, signal);
      return { text: weather.report, data: { ...weather } };
    },
  });
}

function object(properties: Readonly<Record<string, unknown>>): { readonly [key: string]: unknown } {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}
