// What the page knows, and the wire it came over.

import { toast } from "./dom.js";

export const state = {
  team: {}, bot: {}, users: new Map(), channels: new Map(), messages: new Map(), statuses: new Map(),
  views: new Map(), shortcuts: {}, connected: false, recording: null,
  me: sessionStorage.getItem("me"), here: null, home: false, thread: null, awaited: null,
  seen: new Map(), // the last stamp that was looked at, by channel and by thread
};

const TAKE = {
  everything(all) {
    Object.assign(state, { team: all.team, bot: all.bot, shortcuts: all.shortcuts, connected: all.connected, recording: all.recording });
    state.users = new Map(all.users.map((user) => [user.id, user]));
    state.channels = new Map(all.channels.map((channel) => [channel.id, channel]));
    state.messages = new Map(all.channels.map((channel) => [channel.id, new Map()]));
    state.statuses = new Map(all.statuses.map((status) => [`${status.channel}/${status.ts}`, status]));
    state.views = new Map(Object.entries(all.views));
    for (const message of all.messages) state.messages.get(message.channel).set(message.ts, message);
    if (!state.users.has(state.me)) state.me = people()[0].id;
  },
  message({ message }) {
    if (!state.messages.has(message.channel)) state.messages.set(message.channel, new Map());
    state.messages.get(message.channel).set(message.ts, message);
  },
  gone({ channel, ts }) {
    state.messages.get(channel)?.delete(ts);
  },
  channel({ channel }) {
    state.channels.set(channel.id, channel);
    if (!state.messages.has(channel.id)) state.messages.set(channel.id, new Map());
  },
  status(status) {
    state.statuses.set(`${status.channel}/${status.ts}`, status);
  },
  views({ user, modal, home }) {
    state.views.set(user, { modal, home });
  },
  recording({ recording }) {
    state.recording = recording;
  },
  app({ connected }) {
    state.connected = connected;
  },
};

export const people = () => [...state.users.values()].filter((user) => !user.is_bot);
export const isMine = (message) => !message.only_for || message.only_for === state.me;
// What the bot and the people of the file posted while a recording was played; not what visitors say.
export function isRecorded({ channel, ts, thread_ts, bot_id, only_for }) {
  const { recording } = state;
  if (!recording?.thread || only_for || channel !== recording.channel || (thread_ts ?? ts) !== recording.thread) return false;
  return bot_id ? !recording.last || ts <= recording.last : recording.said.includes(ts);
}
export const isReply = (message) => Boolean(message.thread_ts) && message.thread_ts !== message.ts;
export const isInChannel = (message) => !isReply(message) || message.subtype === "thread_broadcast";
export const author = (message) => message.username ?? state.users.get(message.user)?.real_name ?? (message.user === "USLACKBOT" ? "Slackbot" : state.bot.name);

export const names = {
  user: (id) => state.users.get(id)?.name ?? id,
  channel: (id) => state.channels.get(id)?.name,
};

export function timeline(channel) {
  return ordered([...(state.messages.get(channel)?.values() ?? [])].filter((message) => isInChannel(message) && isMine(message)));
}

export function thread(channel, ts) {
  return ordered([...(state.messages.get(channel)?.values() ?? [])]
    .filter((message) => (message.ts === ts || message.thread_ts === ts) && isMine(message)));
}

const ordered = (messages) => messages.sort((one, other) => one.ts.localeCompare(other.ts));

// ---- the wire: what people do goes out with a number, its answer comes back with the same

const waiting = new Map();
let socket = null;
let number = 0;

export function connect(changed) {
  socket = new WebSocket(`ws://${location.host}/sandbox/live`);
  socket.onmessage = ({ data }) => {
    const update = JSON.parse(data);
    if (update.type === "answer") return answered(update);
    TAKE[update.type]?.(update);
    changed(update);
  };
  socket.onclose = () => {
    state.connected = false;
    changed({ type: "lost" });
    setTimeout(() => connect(changed), 1000);
  };
}

export function act(deed, what = {}) {
  number += 1;
  const id = number;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, do: deed, as: state.me, ...what }));
  });
}

function answered(answer) {
  waiting.get(answer.id)?.(answer);
  waiting.delete(answer.id);
  if (!answer.ok && answer.error && !answer.errors) toast(answer.error);
}
