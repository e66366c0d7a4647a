// Where people type. Enter sends, Shift+Enter makes a new line, `/` starts a command.

import { byId, h, openMenu, toast } from "./dom.js";
import { act, people, state } from "./state.js";

export function composer(name, { label, send, inThread }) {
  const box = h("textarea", { id: `${name}-text`, rows: "1", "aria-label": label, placeholder: label, "data-composer": name });
  const button = h("button", { type: "submit", class: "send", "aria-label": "Send", "data-send": name }, "➤");
  const form = h("form", { class: "composer", onsubmit: (event) => submit(event, box, { send, inThread }) },
    box, h("div", { class: "tools" },
      h("button", { type: "button", class: "quiet icon", "aria-label": "Mention somebody", "aria-haspopup": "menu", onclick: (event) => mention(event.currentTarget, box) }, "@"),
      h("span", { class: "faint keys" }, inThread ? "Enter to reply" : "Enter to send · / for commands"),
      button));
  box.addEventListener("input", () => grow(box, button));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  grow(box, button);
  return form;
}

async function submit(event, box, { send, inThread }) {
  event.preventDefault();
  const text = box.value.trim();
  if (!text) return;
  if (text.startsWith("/") && inThread) {
    toast(`Slash commands cannot be used in threads. Try: @${state.bot.name} ${text.split(" ").slice(1).join(" ")}`);
    return;
  }
  box.value = "";
  box.dispatchEvent(new Event("input"));
  const answer = await (text.startsWith("/") ? act("slash", { channel: state.here, text }) : send(text));
  if (!answer.ok && !box.value && !text.startsWith("/")) box.value = text;
}

function grow(box, button) {
  box.style.height = "auto";
  box.style.height = `${Math.min(box.scrollHeight + 2, 220)}px`;
  button.disabled = !box.value.trim();
}

function mention(anchor, box) {
  const everybody = [state.users.get(state.bot.id), ...people()];
  openMenu(anchor, "Mention somebody", everybody.map((user) => ({
    label: `@${user.name}`,
    do: () => {
      box.setRangeText(`@${user.name} `, box.selectionStart, box.selectionEnd, "end");
      box.dispatchEvent(new Event("input"));
      box.focus();
    },
  })));
}

export function editor(message, done) {
  const box = h("textarea", { "aria-label": "Edit message", rows: "2" });
  box.value = message.text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  const save = async (event) => {
    event.preventDefault();
    await act("edit", { ts: message.ts, text: box.value });
    done();
  };
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") done();
    if (event.key === "Enter" && !event.shiftKey) save(event);
  });
  return h("form", { class: "composer", onsubmit: save }, box,
    h("div", { class: "tools" }, h("button", { type: "button", class: "button", onclick: done }, "Cancel"),
      h("button", { type: "submit", class: "button primary" }, "Save")));
}

export const focusComposer = (name) => byId(`${name}-text`)?.focus();
