// Chooses the page's language.

const KNOWN = ["en", "zh"];

/**
 * Returns the best of the page's languages: the one in the address (`?lang=zh`), or the first of the reader's
 * `preferred` languages (BCP 47 tags, the best first) that the page has, or English.
 */
export function chooseLanguage(search, preferred) {
  const asked = new URLSearchParams(search).get("lang");
  for (const tag of [asked, ...preferred]) {
    const language = String(tag ?? "").toLowerCase().split(/[-_]/)[0];
    if (KNOWN.includes(language)) return language;
  }
  return "en";
}
