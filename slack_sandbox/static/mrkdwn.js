// Slack's mrkdwn as DOM nodes. `names` knows people and channels by id.

import { h } from "./dom.js";
import { emoji } from "./emoji.js";

const FENCE = /```\n?([\s\S]*?)```/;
const INLINE = new RegExp(
  [
    "`([^`\\n]+)`", // 1 code
    "<([^<>\\n]+)>", // 2 reference or link
    ":([a-z0-9_+'-]+(?:::skin-tone-\\d)?):", // 3 emoji
    "(?<![\\w*])\\*(?!\\s)([^*\\n]+?)(?<!\\s)\\*(?![\\w*])", // 4 bold
    "(?<![\\w_])_(?!\\s)([^_\\n]+?)(?<!\\s)_(?![\\w_])", // 5 italic
    "(?<![\\w~])~(?!\\s)([^~\\n]+?)(?<!\\s)~(?![\\w~])", // 6 strike
  ].join("|"),
);
const LINES = [
  { kind: "quote", mark: /^(?:&gt;|>) ?/ },
  { kind: "ul", mark: /^\s*[•◦*-] +(?=\S)/ },
  { kind: "ol", mark: /^\s*\d+[.)] +(?=\S)/ },
];

export const unescape = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

export function mrkdwn(text, names) {
  const parts = String(text ?? "").split(FENCE);
  return parts.flatMap((part, index) =>
    index % 2 ? [h("pre", { tabindex: "0" }, h("code", {}, unescape(part.replace(/\n$/, ""))))] : lines(part, names));
}

// Standard Markdown, as far as a `markdown` block needs it here.
export function markdown(text, names) {
  const translated = String(text ?? "")
    .replace(/^#{1,6} +(.*)$/gm, "*$1*")
    .replace(/\*\*([^*\n]+)\*\*/g, "*$1*")
    .replace(/\[([^\]\n]+)\]\((https?:[^)\s]+)\)/g, "<$2|$1>");
  return mrkdwn(translated, names);
}

export function plain(text) {
  return String(text ?? "").split(/(:[a-z0-9_+'-]+:)/).map((part) => emoji(part) ?? part).join("");
}

// One line of plain words, for announcements and previews.
export function spoken(text, names) {
  return h("p", {}, ...inline(String(text ?? "").replaceAll("\n", " "), names)).textContent;
}

function lines(text, names) {
  const groups = [];
  for (const line of text.replace(/^\n|\n$/g, "").split("\n")) {
    const found = LINES.find(({ mark }) => mark.test(line)) ?? { kind: "p", mark: /^/ };
    const last = groups.at(-1);
    const item = line.replace(found.mark, "");
    const number = line.match(/^\s*(\d+)/)?.[1];
    if (last?.kind === found.kind) last.items.push(item);
    else groups.push({ kind: found.kind, items: [item], start: number });
  }
  return groups.filter((group) => group.items.some(Boolean)).map((group) => block(group, names));
}

function block({ kind, items, start }, names) {
  if (kind === "ul" || kind === "ol") {
    return h(kind, { start: kind === "ol" && start }, items.map((item) => h("li", {}, inline(item, names))));
  }
  const body = trimmed(items).flatMap((item, index) => [index ? h("br") : null, ...inline(item, names)]);
  return kind === "quote" ? h("blockquote", {}, body) : h("p", {}, body);
}

function trimmed(items) {
  const from = items.findIndex(Boolean);
  const to = items.findLastIndex(Boolean);
  return items.slice(from, to + 1);
}

function inline(text, names) {
  const nodes = [];
  let rest = text;
  for (let found = INLINE.exec(rest); found; found = INLINE.exec(rest)) {
    nodes.push(unescape(rest.slice(0, found.index)), piece(found, names));
    rest = rest.slice(found.index + found[0].length);
  }
  return [...nodes, unescape(rest)].filter((node) => node !== "");
}

function piece([whole, code, reference, shortcode, bold, italic, strike], names) {
  if (code !== undefined) return h("code", {}, unescape(code));
  if (reference !== undefined) return refer(reference, names);
  if (shortcode !== undefined) return pictogram(whole, shortcode);
  if (bold !== undefined) return h("strong", {}, inline(bold, names));
  if (italic !== undefined) return h("em", {}, inline(italic, names));
  return h("s", {}, inline(strike, names));
}

function pictogram(whole, name) {
  const found = emoji(name);
  return found ? h("span", { role: "img", "aria-label": name.replaceAll("_", " "), title: whole }, found) : h("span", { class: "shortcode" }, whole);
}

function refer(reference, names) {
  const [target, label] = reference.split("|");
  if (target.startsWith("@")) return h("span", { class: "mention" }, `@${names.user(target.slice(1))}`);
  if (target.startsWith("#")) return h("span", { class: "mention" }, `#${names.channel(target.slice(1)) ?? label}`);
  if (target.startsWith("!date")) return label ?? target;
  if (target.startsWith("!")) return h("span", { class: "mention" }, `@${label ?? target.slice(1).split("^")[0]}`);
  if (/^(https?|mailto):/.test(target)) {
    return h("a", { href: unescape(target), target: "_blank", rel: "noopener noreferrer" }, unescape(label ?? target));
  }
  return `<${unescape(reference)}>`;
}
