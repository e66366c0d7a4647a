// One message as a list item, and lists that change one item at a time.

import { clock, h, moment, openMenu } from "./dom.js";
import { blocks } from "./blocks.js";
import { confirm } from "./dialogs.js";
import { emoji, QUICK } from "./emoji.js";
import { mrkdwn } from "./mrkdwn.js";
import { act, author, isRecorded, isReply, names, people, state, thread } from "./state.js";

const GROUP_SECONDS = 300;

export function room(message) {
  const own = {
    ts: message.ts,
    channel: message.channel,
    names,
    people,
    places: () => [...state.channels.values()].filter((channel) => channel.name),
    press: (one, value) => act("press", { ts: message.ts, action_id: one.action_id, value }),
    confirm: (question) => confirm(question, own),
  };
  return own;
}

export function item(message, pane) {
  return h("li", {
    class: `message ${message.only_for ? "ephemeral" : ""} ${message.subtype === "tombstone" ? "tombstone" : ""}`,
    "data-ts": message.ts, "data-channel": message.channel, "data-author": author(message), "data-recorded": isRecorded(message) ? "" : null, tabindex: "-1",
  },
  avatar(message),
  h("article", { "aria-label": `${author(message)}, ${clock(message.ts)}` },
    message.only_for && h("p", { class: "only" }, "Only visible to you"),
    h("header", {},
      h("strong", { class: "author" }, author(message)),
      message.bot_id && h("span", { class: "badge" }, "APP"),
      isRecorded(message) && h("span", { class: "badge recorded" }, "RECORDED"),
      h("time", { title: moment(message.ts) }, clock(message.ts))),
    h("div", { class: "words" }, content(message)),
    message.files?.map((file) => h("a", { class: "file", href: new URL(file.url_private).pathname, download: file.name }, `⤓ ${file.title}`)),
    reactions(message),
    !isReply(message) && pane.kind === "channel" && hint(message, pane)),
  !message.only_for && message.subtype !== "tombstone" && toolbar(message, pane));
}

function content(message) {
  const body = message.blocks?.length ? blocks(message.blocks, room(message)) : mrkdwn(message.text, names);
  if (message.edited && !message.bot_id) body.push(h("span", { class: "faint edited" }, "(edited)"));
  return body;
}

// ---- who said it

export function avatar(message) {
  const icon = message.icons?.emoji && emoji(message.icons.emoji);
  const name = author(message);
  if (message.bot_id) return face(icon ?? (message.username ? name[0] : "◍"), name, "app");
  return face(name[0], name, "person");
}

export function face(sign, name, kind) {
  return h("span", { class: `face ${kind} hue-${hue(name)}`, "aria-hidden": "true" }, sign);
}

function hue(name) {
  return [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 1009, 7) % 8;
}

// ---- under it

function reactions(message) {
  if (!message.reactions?.length) return null;
  return h("div", { class: "reactions" }, message.reactions.map(({ name, users, count }) => h("button", {
    type: "button", "data-reaction": name, "aria-pressed": String(users.includes(state.me)),
    "aria-label": `${name.replaceAll("_", " ")}, ${count}`, title: users.map(names.user).join(", "),
    onclick: () => act("react", { ts: message.ts, name }),
  }, `${emoji(name) ?? name.replaceAll("_", " ")} ${count}`)));
}

function hint(message, pane) {
  const replies = thread(message.channel, message.ts).filter(isReply);
  if (!replies.length) return null;
  const last = replies.at(-1);
  const fresh = replies.filter((reply) => reply.ts > (state.seen.get(message.ts) ?? "") && reply.user !== state.me).length;
  const faces = [...new Map(replies.map((reply) => [author(reply), reply])).values()].slice(0, 4);
  return h("button", { type: "button", class: "replies", "data-thread": message.ts, onclick: () => pane.openThread(message.ts) },
    faces.map(avatar),
    h("span", { class: "count" }, replies.length === 1 ? "1 reply" : `${replies.length} replies`),
    fresh > 0 && h("span", { class: "fresh" }, `${fresh} new`),
    h("span", { class: "faint" }, `Last reply ${clock(last.ts)}`));
}

// ---- what can be done with it

function toolbar(message, pane) {
  const tool = (label, sign, act_, attributes = {}) =>
    h("button", { type: "button", "aria-label": label, title: label, ...attributes, onclick: act_ }, sign);
  return h("div", { class: "toolbar", role: "toolbar", "aria-label": "Message actions" },
    tool("Add a reaction", "☺", (event) => pick(event.currentTarget, message), { "aria-haspopup": "menu", "data-tool": "react" }),
    pane.kind === "channel" && tool("Reply in thread", "↩", () => pane.openThread(message.ts, { focus: true }), { "data-tool": "reply" }),
    tool("More actions", "⋯", (event) => more(event.currentTarget, message, pane), { "aria-haspopup": "menu", "data-tool": "more" }));
}

function pick(anchor, message) {
  openMenu(anchor, "Add a reaction", QUICK.map((name) => ({
    label: `${emoji(name) ?? ""} ${name.replaceAll("_", " ")}`,
    attributes: { "data-reaction": name },
    do: () => act("react", { ts: message.ts, name }),
  })));
}

function more(anchor, message, pane) {
  const own = message.user === state.me;
  openMenu(anchor, "More actions", [
    ...Object.entries(state.shortcuts).map(([callback_id, label]) => ({
      label,
      attributes: { "data-shortcut": callback_id },
      do: () => act("shortcut", { ts: message.ts, callback_id }),
    })),
    { label: "Copy text", do: () => navigator.clipboard?.writeText(message.text) },
    ...(own ? [
      { label: "Edit message", attributes: { "data-menu": "edit" }, do: () => pane.edit(message) },
      { label: "Delete message", danger: true, attributes: { "data-menu": "delete" }, do: () => act("delete", { ts: message.ts }) },
    ] : []),
  ]);
}

// ---- lists

export function fill(list, messages, pane) {
  list.replaceChildren(...messages.map((message) => item(message, pane)));
  group(list);
}

// Replaces, inserts or removes one message; everything else, and the focus, stays where it is.
export function patch(list, ts, message, pane) {
  const before = list.querySelector(`:scope > [data-ts="${ts}"]`);
  if (!message) before?.remove();
  else if (before) replace(before, item(message, pane));
  else list.insertBefore(item(message, pane), [...list.children].find((other) => other.dataset.ts > ts) ?? null);
  group(list);
}

function replace(before, after) {
  const focused = before.contains(document.activeElement) && document.activeElement.dataset;
  before.replaceWith(after);
  if (!focused) return;
  const same = focused.actionId && after.querySelector(`[data-action-id="${CSS.escape(focused.actionId)}"]`);
  (same || after).focus({ preventScroll: true });
}

// Several posts in a row by one author share one face.
function group(list) {
  let previous = null;
  for (const one of list.children) {
    const follows = previous && previous.dataset.author === one.dataset.author
      && Number(one.dataset.ts) - Number(previous.dataset.ts) < GROUP_SECONDS
      && one.classList.contains("ephemeral") === previous.classList.contains("ephemeral")
      && one.hasAttribute("data-recorded") === previous.hasAttribute("data-recorded")
      && !previous.querySelector(".replies");
    one.classList.toggle("follows", Boolean(follows));
    previous = one;
  }
}
