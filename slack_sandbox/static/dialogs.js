// One dialog element: a modal the app opened, or a question before a button does its work.

import { byId, h } from "./dom.js";
import { blocks, entered, text } from "./blocks.js";
import { plain } from "./mrkdwn.js";

const dialog = () => byId("dialog");
let shown = null;

export function confirm(question, room) {
  return new Promise((resolve) => {
    const decide = (answer) => () => {
      dialog().close();
      resolve(answer);
    };
    dialog().replaceChildren(
      h("h2", { id: "dialog-title" }, plain(question.title.text)),
      h("div", { class: "words" }, text(question.text, room)),
      h("footer", {},
        h("button", { type: "button", class: "button", onclick: decide(false) }, plain(question.deny.text)),
        h("button", { type: "button", class: `button ${question.style ?? "primary"}`, "data-confirm": "yes", onclick: decide(true) }, plain(question.confirm.text))));
    dialog().oncancel = decide(false);
    dialog().showModal();
  });
}

// Shows `view`, or closes what is shown. An unchanged view keeps what was typed so far.
export function showView(view, room) {
  if (!view) {
    if (shown) dialog().close();
    shown = null;
    return;
  }
  if (shown?.id === view.id && shown.hash === view.hash) return;
  shown = view;
  draw(view, { ...room, form: view.id, errors: {} });
}

function draw(view, room) {
  const form = h("form", { method: "dialog", "data-view": view.callback_id, onsubmit: (event) => submit(event, view, room) },
    h("h2", { id: "dialog-title" }, plain(view.title.text)),
    h("div", { class: "words" }, blocks(view.blocks, room)),
    h("footer", {},
      h("button", { type: "button", class: "button", "data-view-close": "", onclick: room.dismiss }, plain(view.close?.text ?? "Cancel")),
      view.submit && h("button", { type: "submit", class: "button primary", "data-view-submit": "" }, plain(view.submit.text))));
  dialog().replaceChildren(form);
  dialog().oncancel = (event) => {
    event.preventDefault();
    room.dismiss();
  };
  if (!dialog().open) dialog().showModal();
  const first = form.querySelector("input, textarea, select");
  const chosen = first?.type === "radio" && form.querySelector(`[name="${CSS.escape(first.name)}"]:checked`);
  (chosen || first)?.focus();
}

async function submit(event, view, room) {
  event.preventDefault();
  const form = event.currentTarget;
  const button = form.querySelector("[type=submit]");
  button.setAttribute("aria-busy", "true");
  const answer = await room.submit(entered(form));
  button.removeAttribute("aria-busy");
  for (const block of form.querySelectorAll(".input")) {
    const problem = answer.errors?.[block.dataset.blockId] ?? "";
    block.querySelector(".error").textContent = problem;
    block.querySelector("[aria-describedby]").setAttribute("aria-invalid", String(Boolean(problem)));
  }
  form.querySelector("[aria-invalid=true]")?.focus();
}
