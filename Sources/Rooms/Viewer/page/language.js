// In which language the page speaks.

const KNOWN = ["en", "zh"];

/**
 * The best of the page's languages: what the address asks for (`?lang=zh`), else the first of the reader's `preferred` ones
 * (BCP 47 tags, the best first) that the page knows, else English.
 */
export function chooseLanguage(search, preferred) {
  const asked = new URLSearchParams(search).get("lang");
  for (const tag of [asked, ...preferred]) {
    const language = String(tag ?? "").toLowerCase().split(/[-_]/)[0];
    if (KNOWN.includes(language)) return language;
  }
  return "en";
}
