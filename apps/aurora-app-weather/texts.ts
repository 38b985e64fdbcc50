import type { Weather } from "./weather.ts";

/** Languages the app speaks. */
export const LANGUAGES = ["zh", "en"] as const;

export type Language = (typeof LANGUAGES)[number];

/** WMO weather interpretation codes that Open-Meteo uses, in both languages. */
const CONDITIONS: ReadonlyMap<number, Readonly<Record<Language, string>>> = new Map([
  [0, { zh: "晴", en: "clear" }],
  [1, { zh: "大致晴朗", en: "mostly clear" }],
  [2, { zh: "多云", en: "partly cloudy" }],
  [3, { zh: "阴", en: "overcast" }],
  [45, { zh: "雾", en: "fog" }],
  [48, { zh: "雾凇", en: "rime fog" }],
  [51, { zh: "小毛毛雨", en: "light drizzle" }],
  [53, { zh: "毛毛雨", en: "drizzle" }],
  [55, { zh: "大毛毛雨", en: "heavy drizzle" }],
  [56, { zh: "小冻毛毛雨", en: "light freezing drizzle" }],
  [57, { zh: "冻毛毛雨", en: "freezing drizzle" }],
  [61, { zh: "小雨", en: "light rain" }],
  [63, { zh: "中雨", en: "rain" }],
  [65, { zh: "大雨", en: "heavy rain" }],
  [66, { zh: "小冻雨", en: "light freezing rain" }],
  [67, { zh: "冻雨", en: "freezing rain" }],
  [71, { zh: "小雪", en: "light snow" }],
  [73, { zh: "中雪", en: "snow" }],
  [75, { zh: "大雪", en: "heavy snow" }],
  [77, { zh: "米雪", en: "snow grains" }],
  [80, { zh: "小阵雨", en: "light showers" }],
  [81, { zh: "阵雨", en: "showers" }],
  [82, { zh: "强阵雨", en: "violent showers" }],
  [85, { zh: "小阵雪", en: "light snow showers" }],
  [86, { zh: "阵雪", en: "snow showers" }],
  [95, { zh: "雷雨", en: "thunderstorm" }],
  [96, { zh: "雷雨伴小冰雹", en: "thunderstorm with light hail" }],
  [99, { zh: "雷雨伴冰雹", en: "thunderstorm with hail" }],
]);

/** The words for a weather code; a code without words is named by its number, a missing one is said to be unknown. */
export function condition(code: number | null, language: Language): string {
  if (code === null) return language === "zh" ? "未知" : "unknown";
  return CONDITIONS.get(code)?.[language] ?? (language === "zh" ? `天气代码 ${code}` : `weather code ${code}`);
}

/** The weather as a short text for people. */
export function report(weather: Omit<Weather, "report">, language: Language): string {
  const zh = language === "zh";
  const colon = zh ? "：" : ": ";
  const place = [weather.city, weather.region, weather.country]
    .filter((part, index, all) => part !== undefined && all.indexOf(part) === index)
    .join(zh ? "，" : ", ");
  const title = zh ? `${place}未来 ${weather.days.length} 天天气` : `Weather in ${place}, ${weather.days.length} day(s)`;
  const { current } = weather;
  const now = `${zh ? "现在" : "Now"}${colon}${join(zh, current.condition, unit(current.temperature, "°C"), current.humidity === null ? undefined : `${zh ? "湿度" : "humidity"} ${current.humidity}%`, wind(zh, current.wind_speed))}`;
  const days = weather.days.map((day) => {
    const range = day.temperature_min === null || day.temperature_max === null ? undefined : `${day.temperature_min}~${day.temperature_max}°C`;
    const rain = day.precipitation_probability === null ? undefined : `${zh ? "降水概率" : "chance of rain"} ${day.precipitation_probability}%`;
    return `${day.date}${colon}${join(zh, day.condition, range, rain, wind(zh, day.wind_speed_max))}`;
  });
  return [title, now, ...days].join("\n");
}

/** The text of the `weather_summary` prompt (guide 8.3). */
export function summaryPrompt(city: string, language: Language): string {
  return language === "zh" ? `请用简洁自然的中文总结${city}天气。` : `Summarise the weather in ${city} briefly, in plain English.`;
}

function wind(zh: boolean, speed: number | null): string | undefined {
  return speed === null ? undefined : `${zh ? "风速" : "wind"} ${speed} km/h`;
}

function unit(value: number | null, name: string): string | undefined {
  return value === null ? undefined : `${value}${name}`;
}

function join(zh: boolean, ...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(zh ? "，" : ", ");
}
