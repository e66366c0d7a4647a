// Elements are made of nodes and text, never of markup: nothing anybody wrote can become HTML.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

export const clock = (ts) =>
  new Date(Number(ts) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

export const moment = (ts) =>
  new Date(Number(ts) * 1000).toLocaleString([], { dateStyle: "full", timeStyle: "medium" });

export function toast(text) {
  const note = h("p", {}, text);
  byId("toasts").append(note);
  setTimeout(() => note.remove(), 7000);
}

// A menu next to what opened it. The browser closes it on Escape and on a click elsewhere.
export function openMenu(anchor, label, items) {
  const menu = byId("menu");
  const choose = (item) => () => {
    menu.hidePopover();
    anchor.focus();
    item.do();
  };
  menu.replaceChildren(
    ...items.map((item) =>
      h("button", { type: "button", role: "menuitem", class: item.danger && "danger", ...item.attributes, onclick: choose(item) }, item.label)),
  );
  menu.setAttribute("aria-label", label);
  menu.onkeydown = (event) => moveFocus(event, menu);
  menu.showPopover();
  const at = anchor.getBoundingClientRect();
  const left = Math.min(at.left, innerWidth - menu.offsetWidth - 12);
  const below = at.bottom + 6 + menu.offsetHeight < innerHeight;
  menu.style.left = `${Math.max(12, left)}px`;
  menu.style.top = `${below ? at.bottom + 6 : Math.max(12, at.top - 6 - menu.offsetHeight)}px`;
  menu.firstElementChild?.focus();
}

function moveFocus(event, menu) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const items = [...menu.children];
  items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus();
}
