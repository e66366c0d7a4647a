// The page: what is where, and what changes when.

import { byId, h } from "./dom.js";
import { composer, editor, focusComposer } from "./composer.js";
import { blocks } from "./blocks.js";
import { confirm, showView } from "./dialogs.js";
import { face, fill, patch, room } from "./messages.js";
import { canPlay, drawRecording, playButton } from "./recording.js";
import { spoken } from "./mrkdwn.js";
import { act, author, connect, isInChannel, isMine, isRecorded, names, people, state, thread, timeline } from "./state.js";

const NEAR_END = 120;
const HOME = "home";

const panes = {
  channel: {
    kind: "channel", list: () => byId("channel-messages"), scroll: () => byId("channel-scroll"),
    openThread: (ts, options) => openThread(ts, options), edit,
    shows: (message) => message.channel === state.here && isInChannel(message) && isMine(message),
  },
  thread: {
    kind: "thread", list: () => byId("thread-messages"), scroll: () => byId("thread-scroll"),
    openThread: () => {}, edit,
    shows: (message) => message.channel === state.here && state.thread && isMine(message)
      && (message.ts === state.thread || message.thread_ts === state.thread),
  },
};

// ---- what came over the wire

const CHANGED = {
  everything() {
    document.title = `${state.team.name} · ${state.bot.name}`;
    fromAddress();
    drawAll();
  },
  message({ message }) {
    if (message.ts === state.awaited) {
      fromAddress();
      drawAll();
    }
    for (const pane of Object.values(panes)) {
      if (pane.shows(message)) keepingEnd(pane, () => patch(pane.list(), message.ts, message, pane));
    }
    drawWelcome();
    announce(message);
    looked();
    drawPlaces();
  },
  gone({ ts }) {
    for (const pane of Object.values(panes)) patch(pane.list(), ts, null, pane);
  },
  channel() {
    drawSidebar();
    drawChannelBar();
  },
  status: drawStatus,
  recording: followRecording,
  views() {
    drawView();
    drawHome();
  },
  app: drawPresence,
  lost: drawPresence,
};

connect((update) => CHANGED[update.type]?.(update));
addEventListener("hashchange", () => {
  fromAddress();
  drawAll();
});
byId("thread-close").onclick = () => closeThread();
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.thread && !byId("dialog").open && !byId("menu").matches(":popover-open")) closeThread();
});

// ---- where we are: the address says it, so that a reload and a link come to the same place

function fromAddress() {
  const [channel, ts] = decodeURIComponent(location.hash.slice(1)).split("/");
  const atHome = channel === HOME && state.bot.has_home;
  if (atHome && !state.home) act("home");
  state.home = atHome;
  state.here = state.channels.has(channel) ? channel : [...state.channels.keys()][0];
  const isKnown = state.messages.get(state.here)?.has(ts);
  state.thread = ts && isKnown ? ts : null;
  state.awaited = ts && !isKnown ? ts : null; // a link may be followed before its message has come over the wire
}

function go(channel, ts) {
  location.hash = ts ? `${channel}/${ts}` : channel;
}

function openThread(ts, { focus = false } = {}) {
  if (state.thread === ts && focus) focusComposer("thread");
  state.focusThread = focus;
  go(state.here, ts);
}

function closeThread() {
  const ts = state.thread;
  go(state.here);
  requestAnimationFrame(() => document.querySelector(`#channel-messages [data-thread="${ts}"]`)?.focus());
}

// The page goes to the thread as soon as there is one, unless somebody reads another one.
let followed = null;

function followRecording() {
  const { channel, thread: ts } = state.recording;
  drawRecording();
  drawWelcome();
  for (const pane of Object.values(panes)) relabel(pane);
  if (!ts || followed === ts) return;
  followed = ts;
  if (!state.thread && !state.home) go(channel, ts);
}

function relabel(pane) {
  for (const shown of [...pane.list().children]) {
    const message = state.messages.get(state.here)?.get(shown.dataset.ts);
    if (message && isRecorded(message) !== shown.hasAttribute("data-recorded")) patch(pane.list(), message.ts, message, pane);
  }
}

// ---- drawing

function drawAll() {
  drawRecording();
  drawSidebar();
  drawChannel();
  drawHome();
  drawThread();
  toEnd(panes.channel); // a thread beside it makes it narrower, and what is in it longer
  drawView();
}

function drawSidebar() {
  byId("team").textContent = state.team.name;
  drawPresence();
  drawPlaces();
  byId("people").replaceChildren(...people().map(speaker));
  drawConnect();
}

// The one line that connects a coding agent.
function drawConnect() {
  const { connect } = state.bot;
  byId("connect").hidden = !connect;
  byId("connect-command").textContent = connect;
  byId("connect-copy").onclick = async () => {
    await navigator.clipboard?.writeText(connect);
    byId("connect-copy").textContent = "Copied";
  };
}

function drawPresence() {
  const presence = byId("presence");
  presence.classList.toggle("online", state.connected);
  presence.textContent = state.connected ? `${state.bot.name} is here` : `${state.bot.name} is away`;
}

function drawPlaces() {
  const all = [...state.channels.values()].filter((channel) => channel.members.includes(state.me));
  const [directs, channels] = [all.filter((c) => c.kind === "im"), all.filter((c) => c.kind !== "im")];
  byId("channels").replaceChildren(...channels.map((channel) => place(channel, `# ${channel.name}`)));
  byId("directs").replaceChildren(...directs.map((channel) => place(channel, otherThan(state.me, channel))), ...(directs.length || !state.bot.hears_directs ? [] : [startDirect()]));
  byId("directs").parentElement.hidden = !byId("directs").childElementCount;
  byId("apps").replaceChildren(...(state.bot.has_home ? [homePlace()] : []));
  byId("apps").parentElement.hidden = !state.bot.has_home;
}

function homePlace() {
  return h("li", {}, h("a", { href: `#${HOME}`, "data-home": "", "aria-current": state.home ? "page" : null }, `${state.bot.name}: Home`));
}

function place(channel, label) {
  const latest = [...(state.messages.get(channel.id)?.keys() ?? [])].at(-1) ?? "";
  const fresh = channel.id !== state.here && latest > (state.seen.get(channel.id) ?? "");
  return h("li", {}, h("a", {
    href: `#${channel.id}`, "data-channel": channel.id, class: `${fresh ? "fresh" : ""} ${channel.archived ? "archived" : ""}`,
    "aria-current": channel.id === state.here && !state.home ? "page" : null,
  }, channel.archived ? `${label} (archived)` : label));
}

function startDirect() {
  const open = async () => {
    const answer = await act("say", { channel: `@${state.bot.name}`, text: "Hello!" });
    if (answer.ok) drawPlaces();
  };
  return h("li", {}, h("button", { type: "button", class: "place", onclick: open }, `Say hello to ${state.bot.name}`));
}

function speaker(user) {
  const choose = () => {
    state.me = user.id;
    sessionStorage.setItem("me", user.id);
    if (state.home) act("home");
    drawAll();
  };
  return h("label", {},
    h("input", { type: "radio", name: "me", value: user.id, checked: user.id === state.me, "data-person": user.name, onchange: choose }),
    face(user.real_name[0], user.real_name, "person"), h("span", {}, user.real_name));
}

function drawChannel() {
  if (!state.here) return;
  drawChannelBar();
  fill(panes.channel.list(), timeline(state.here), panes.channel);
  const channel = state.channels.get(state.here);
  const label = channel.kind === "im" ? `Message ${otherThan(state.me, channel)}` : `Message #${channel.name}`;
  const closed = whyClosed(channel);
  if (byId("channel-foot").dataset.label !== label + closed) {
    byId("channel-foot").replaceChildren(closed
      ? h("p", { class: "faint closed" }, closed)
      : composer("channel", { label, send: (text) => act("say", { channel: state.here, text }) }));
    byId("channel-foot").dataset.label = label + closed;
  }
  drawWelcome();
  toEnd(panes.channel);
  looked();
}

// The app's Home tab of the person who looks, in place of the messages.
function drawHome() {
  for (const name of ["channel-messages", "channel-foot"]) byId(name).hidden = state.home;
  byId("home").hidden = !state.home;
  if (!state.home) return;
  byId("welcome").hidden = true;
  byId("place").textContent = `${state.bot.name}: Home`;
  byId("place-note").textContent = "";
  const view = state.views.get(state.me)?.home;
  const own = {
    ...room({}),
    press: (one, value) => act("press", { in_home: true, action_id: one.action_id, value }),
  };
  byId("home").replaceChildren(...(view ? blocks(view.blocks, own) : [h("p", { class: "faint" }, "Nothing is here yet.")]));
}

// The first screen: what to type, and a button that types it.
function drawWelcome() {
  const { example } = state.bot;
  byId("welcome").hidden = !(example || canPlay()) || state.home || state.channels.get(state.here).kind === "im" || timeline(state.here).length > 0;
  if (byId("welcome").hidden || byId("welcome").dataset.plays === String(canPlay())) return;
  byId("welcome").dataset.plays = canPlay();
  byId("welcome").replaceChildren(
    h("h3", { id: "welcome-title" }, "Nothing is said here yet"),
    h("p", {}, "This is a Slack on your machine, with the bot in it."),
    ...(example ? [
      h("p", {}, "In the box below, type for example"),
      h("p", {}, h("code", {}, example)),
      h("p", {}, "Then open its thread and answer, as yourself or as one of the other people."),
      h("button", { type: "button", class: "button primary", id: "example", onclick: startExample }, "Start this example"),
    ] : []),
    ...(canPlay() ? [h("p", {}, "Or watch how people and personas meet:"), playButton()] : []));
}

async function startExample(event) {
  const button = event.currentTarget;
  button.setAttribute("aria-busy", "true");
  await act("slash", { channel: state.here, text: state.bot.example });
  button.removeAttribute("aria-busy");
}

function whyClosed(channel) {
  if (channel.archived) return "This channel is archived.";
  if (!channel.members.includes(state.me)) return "You are not in this channel.";
  return channel.kind === "im" && !state.bot.hears_directs ? `${state.bot.name} does not read direct messages.` : "";
}

function drawChannelBar() {
  const channel = state.channels.get(state.here);
  if (!channel) return;
  byId("place").textContent = channel.kind === "im" ? otherThan(state.me, channel) : `# ${channel.name}`;
  byId("place-note").textContent = channel.kind === "im" ? "" : `${channel.members.length} members`;
}

function drawThread() {
  byId("app").classList.toggle("with-thread", Boolean(state.thread));
  byId("thread").hidden = !state.thread;
  if (!state.thread) return;
  byId("thread-note").textContent = byId("place").textContent;
  fill(panes.thread.list(), thread(state.here, state.thread), panes.thread);
  const open = state.thread;
  if (byId("thread-foot").dataset.thread !== open) {
    byId("thread-foot").replaceChildren(composer("thread", {
      label: "Reply…", inThread: true,
      send: (text) => act("say", { channel: state.here, text, thread_ts: open }),
    }));
    byId("thread-foot").dataset.thread = open;
  }
  drawStatus();
  toEnd(panes.thread);
  looked();
  if (state.focusThread) focusComposer("thread");
  state.focusThread = false;
}

function drawStatus() {
  const status = state.statuses.get(`${state.here}/${state.thread}`);
  const words = status?.status ? `${status.username ?? state.bot.name} ${status.status}` : "";
  const where = { channel: state.here, ts: state.thread };
  const stop = h("button", { type: "button", class: "quiet", onclick: () => act("stop", where) }, "Stop");
  byId("thread-status").replaceChildren(words, ...(status?.stoppable ? [" ", stop] : []));
}

function drawView() {
  showView(state.views.get(state.me)?.modal, {
    names, people, places: room({}).places,
    confirm: (question) => confirm(question, { names }),
    press: (one, value) => act("press", { in_view: true, action_id: one.action_id, value }),
    submit: (values) => act("submit", { values }),
    dismiss: () => act("dismiss"),
  });
}

function edit(message) {
  const words = document.querySelector(`.messages [data-ts="${message.ts}"] .words`);
  const form = editor(message, () => drawBoth());
  words.replaceChildren(form);
  form.querySelector("textarea").focus();
}

function drawBoth() {
  fill(panes.channel.list(), timeline(state.here), panes.channel);
  if (state.thread) fill(panes.thread.list(), thread(state.here, state.thread), panes.thread);
}

// ---- small courtesies

function keepingEnd(pane, change) {
  const scroll = pane.scroll();
  const atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR_END;
  change();
  if (atEnd) toEnd(pane);
}

function toEnd(pane) {
  pane.scroll().scrollTop = pane.scroll().scrollHeight;
}

function looked() {
  const last = (messages) => messages.at(-1)?.ts ?? "";
  state.seen.set(state.here, last([...(state.messages.get(state.here)?.values() ?? [])]));
  if (!state.thread) return;
  const before = state.seen.get(state.thread);
  const now = last(thread(state.here, state.thread));
  state.seen.set(state.thread, now);
  const root = state.messages.get(state.here)?.get(state.thread);
  if (before !== now && root && panes.channel.shows(root)) patch(panes.channel.list(), root.ts, root, panes.channel);
}

let announced = "";

function announce(message) {
  const isNew = message.ts > announced && message.user !== state.me && isMine(message) && message.channel === state.here;
  if (!isNew) return;
  announced = message.ts;
  byId("announcer").textContent = `${author(message)}: ${spoken(message.text, names)}`;
}

function otherThan(me, channel) {
  const other = channel.members.find((member) => member !== me);
  return state.users.get(other)?.real_name ?? "You";
}
