/** Letters of other scripts that look like Latin ones. Names are ASCII only, so this serves the lint of texts. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  а: "a",
  в: "b",
  с: "c",
  ԁ: "d",
  е: "e",
  һ: "h",
  і: "i",
  ј: "j",
  к: "k",
  ӏ: "l",
  м: "m",
  н: "h",
  о: "o",
  р: "p",
  ԛ: "q",
  ѕ: "s",
  т: "t",
  у: "y",
  ѵ: "v",
  ԝ: "w",
  х: "x",
  г: "r",
  α: "a",
  ϲ: "c",
  ε: "e",
  η: "n",
  ι: "i",
  κ: "k",
  ν: "v",
  ο: "o",
  ρ: "p",
  τ: "t",
  υ: "u",
  χ: "x",
  ѡ: "w",
  ɑ: "a",
  ɡ: "g",
  ı: "i",
};

/** A word that mixes Latin letters with look-alikes of another script, or null: `dеlete` with a Cyrillic е. */
export function mixedScriptWord(text: string): string | null {
  for (const match of text.matchAll(/[\p{L}\p{M}]{3,80}/gu)) {
    const letters = [...match[0]];
    const latin = letters.filter((c) => /^[A-Za-z]$/.test(c)).length;
    if (latin < 2 || latin === letters.length) continue;
    const others = letters.filter((c) => !/^\p{Script=Latin}$/u.test(c) && !/^\p{M}$/u.test(c));
    const latinLookalikes = letters.filter((c) => c === "ɑ" || c === "ɡ" || c === "ı");
    const strangers = [...others, ...latinLookalikes];
    if (strangers.length > 0 && strangers.every((c) => Object.hasOwn(LOOKALIKES, c.toLowerCase()))) return match[0];
  }
  return null;
}

/** A text with look-alike letters of other scripts as the Latin ones that they are taken for; large stay large. */
export function latinLetters(text: string): string {
  return [...text]
    .map((char) => {
      const latin = LOOKALIKES[char.toLowerCase()];
      if (latin === undefined) return char;
      return char === char.toLowerCase() ? latin : latin.toUpperCase();
    })
    .join("");
}

/** What a name looks like at a glance: characters that are taken for one another become one. Two names with one skeleton can be mistaken. */
export function skeleton(name: string): string {
  const plain = [...name].map((c) => LOOKALIKES[c.toLowerCase()] ?? c).join("");
  // A capital I looks like a small l; after that, case hardly tells names apart.
  return plain.replaceAll("I", "l").toLowerCase().replaceAll("0", "o").replaceAll("1", "l").replaceAll("rn", "m").replaceAll("vv", "w").replaceAll("5", "s");
}

/** The one of `others` that a name could be mistaken for without being it, or undefined. Names that differ in case alone are not look-alikes. */
export function confusableWith(name: string, others: ReadonlySet<string>): string | undefined {
  return shapesOf(others)
    .get(skeleton(name))
    ?.find((other) => other.toLowerCase() !== name.toLowerCase());
}

/** Names by skeleton, made once for a set: a server may show thousands of tools, and each is held against all others. */
const shapes = new WeakMap<ReadonlySet<string>, ReadonlyMap<string, readonly string[]>>();

function shapesOf(names: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const known = shapes.get(names);
  if (known) return known;
  const made = new Map<string, string[]>();
  for (const name of names) {
    const shape = skeleton(name);
    const list = made.get(shape);
    if (list) list.push(name);
    else made.set(shape, [name]);
  }
  shapes.set(names, made);
  return made;
}
