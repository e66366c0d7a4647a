// A recorded meeting: the banner above everything, and its buttons.

import { byId, h } from "./dom.js";
import { act, state } from "./state.js";

const WORDS = {
  playing: ({ title }) => `${title}. People and personas say what a file has. The bot is real; no model is called.`,
  paused: ({ title }) => `${title}, paused. Step shows the next thing.`,
  ended: () => "The recording has ended. From here on it is live: choose who you are and write in the thread. Here the personas follow rules; no model is called.",
  failed: ({ sentence }) => sentence,
};
const BUTTONS = {
  playing: [["pause", "Pause"], ["step", "Step"]],
  paused: [["play", "Play"], ["step", "Step"]],
};

export const canPlay = () => state.recording?.state === "offered";

const button = (name, label, kind = "") =>
  h("button", { type: "button", class: `button ${kind}`, "data-recording": name, onclick: () => act("recording", { button: name }) }, label);

export const playButton = () => button("play", "Play a recorded meeting");

let drawn = "";

export function drawRecording() {
  const { recording } = state;
  const words = recording && WORDS[recording.state];
  byId("recording").hidden = !words;
  if (!words || drawn === recording.state) return;
  drawn = recording.state;
  byId("recording-words").replaceChildren(h("strong", {}, "Recorded"), " ", words(recording));
  const focused = byId("recording-buttons").contains(document.activeElement) && document.activeElement.dataset.recording;
  byId("recording-buttons").replaceChildren(...(BUTTONS[recording.state] ?? []).map(([name, label]) => button(name, label)));
  if (focused) (byId("recording-buttons").querySelector(`[data-recording="${focused}"]`) ?? byId("recording-buttons").firstElementChild)?.focus();
}
