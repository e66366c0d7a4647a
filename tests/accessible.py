"""
What keeps people out of a page, as far as a machine sees it: names, headings in order, a language, contrast.

These are the checks of WCAG 2.2 AA that need no judgement: 1.1.1, 1.3.1, 1.4.3, 2.4.2, 3.1.1, 4.1.2.
"""

from playwright.async_api import Page

FLAWS = """
() => {
  const flaws = [];
  const told = (one) => one.outerHTML.slice(0, 90);
  const seen = (one) => one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const ids = (text) => (text || "").split(" ");
  const named = (one) =>
    one.getAttribute("aria-label")?.trim() ||
    ids(one.getAttribute("aria-labelledby")).map((id) => document.getElementById(id)?.textContent).join("").trim() ||
    [...(one.labels || [])].map((label) => label.textContent).join("").trim() ||
    one.getAttribute("alt")?.trim() || one.getAttribute("title")?.trim() ||
    (one.matches("input, select, textarea") ? "" : one.textContent.trim());

  if (!document.documentElement.lang) flaws.push("the page names no language");
  if (!document.title.trim()) flaws.push("the page has no title");
  if (document.querySelectorAll("main").length !== 1) flaws.push("the page has not one main part");

  let before = 0;
  for (const one of [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(seen)) {
    const level = Number(one.tagName[1]);
    if (level > before + 1) flaws.push(`a heading of level ${level} after one of ${before}: ${told(one)}`);
    before = level;
  }
  const controls = "button, input, select, textarea, a[href], summary, [tabindex], [role=button]";
  for (const one of document.querySelectorAll(controls)) {
    if (seen(one) && one.type !== "hidden" && !named(one)) flaws.push(`no name: ${told(one)}`);
    if (one.tabIndex > 0) flaws.push(`an order of its own: ${told(one)}`);
  }
  for (const one of document.querySelectorAll("img")) if (!one.hasAttribute("alt")) flaws.push(`no alt: ${told(one)}`);
  for (const one of document.querySelectorAll("svg")) {
    if (one.getAttribute("aria-hidden") !== "true" && !named(one)) flaws.push(`no name: ${told(one)}`);
  }
  for (const one of document.querySelectorAll("table")) {
    if (!one.querySelector("th[scope]")) flaws.push(`no headings: ${told(one)}`);
  }
  const all = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of new Set(all.filter((id, at) => all.indexOf(id) !== at))) flaws.push(`two are ${id}`);

  const channels = (text) => {
    const found = (text.match(/[\\d.]+/g) || []).map(Number);
    return found.length > 3 ? found : [...found, 1];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((one, at) => one * a + below[at] * (1 - a));
  const behind = (one) => {
    const layers = [];
    for (let place = one; place; place = place.parentElement) {
      layers.push(channels(getComputedStyle(place).backgroundColor));
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const light = (colour) => {
    const linear = (one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.map((one) => linear(one / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const low = new Set();
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim().slice(0, 40);
    if (!text || one.closest("script, style, title, desc, option, :disabled") || !seen(one)) continue;
    const style = getComputedStyle(one);
    const below = behind(one);
    const ink = over(channels(one.closest("svg") ? style.fill : style.color), below);
    const [dark, bright] = [light(ink), light(below)].sort((a, b) => a - b);
    const ratio = (bright + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) low.add(`contrast ${ratio.toFixed(2)} of ${one.tagName} ${one.className}: ${text}`);
  }
  return [...flaws, ...low];
}
"""


async def flaws_of(page: Page) -> list[str]:
    """One sentence for each; what is not shown at the moment is not judged."""
    found: list[str] = await page.evaluate(FLAWS)
    return found
