// A recorded meeting: its caption above everything, and its buttons.

import { byId, h } from "./dom.js";
import { act, state } from "./state.js";

const WORDS = {
  playing: ({ caption, title }) => caption || title,
  paused: ({ caption, title }) => caption || title,
  ended: () => "Now you. Choose who you are, and write in the thread.",
  failed: ({ sentence }) => sentence,
};
const LABELS = { playing: "Recorded", paused: "Recorded, paused", ended: "Live", failed: "Live" };
const OTHERS = [["skip", "Skip to the brief"], ["now_you", "Now you"]];
const BUTTONS = { playing: [["pause", "Pause"], ...OTHERS], paused: [["play", "Play"], ...OTHERS] };

export const canPlay = () => state.recording?.state === "offered";

const button = (name, label, kind = "") =>
  h("button", { type: "button", class: `button ${kind}`, "data-recording": name, onclick: () => act("recording", { button: name }) }, label);

export const playButton = () => button("play", "Play a recorded meeting");

let drawn = "";

export function drawRecording() {
  const { recording } = state;
  const words = recording && WORDS[recording.state]?.(recording);
  byId("recording").hidden = !words;
  if (!words) return;
  if (byId("recording-words").textContent !== words) byId("recording-words").textContent = words; // else it is read aloud again
  const shown = `${recording.state} ${recording.can_skip}`;
  if (drawn === shown) return;
  drawn = shown;
  byId("recording-state").textContent = LABELS[recording.state];
  const focused = byId("recording-buttons").contains(document.activeElement);
  byId("recording-buttons").replaceChildren(...(BUTTONS[recording.state] ?? []).filter(([name]) => name !== "skip" || recording.can_skip).map(([name, label]) => button(name, label)));
  if (focused) byId("recording-buttons").firstElementChild?.focus();
}
