// Block Kit as DOM nodes. `room` says what pressing does and who is called what.

import { h, openMenu } from "./dom.js";
import { markdown, mrkdwn, plain } from "./mrkdwn.js";

export const text = (object, room) =>
  object?.type === "mrkdwn" ? mrkdwn(object.text, room.names) : [h("p", {}, plain(object?.text))];

const BLOCKS = {
  section: (block, room) => h("div", { class: "block section" },
    h("div", { class: "grow" },
      block.text && text(block.text, room),
      block.fields && h("div", { class: "fields" }, block.fields.map((field) => h("div", {}, text(field, room))))),
    block.accessory && element(block.accessory, block, room)),
  header: (block) => h("h3", { class: "block" }, plain(block.text.text)),
  divider: () => h("hr", { class: "block" }),
  context: (block, room) => h("div", { class: "block context" },
    block.elements.map((one) => (one.type === "image" ? picture(one) : h("div", {}, text(one, room))))),
  actions: (block, room) => h("div", { class: "block actions" }, block.elements.map((one) => element(one, block, room))),
  image: (block) => h("figure", { class: "block" }, picture(block), block.title && h("figcaption", {}, plain(block.title.text))),
  markdown: (block, room) => h("div", { class: "block" }, markdown(block.text, room.names)),
  rich_text: (block, room) => h("div", { class: "block rich" }, block.elements.map((one) => RICH[one.type]?.(one, room))),
  input: (block, room) => input(block, room),
};

export function blocks(list, room) {
  return list.map((block) => (BLOCKS[block.type] ?? unknown)(block, room));
}

function unknown(block) {
  return h("p", { class: "block faint" }, `[${block.type} block]`);
}

function picture(block) {
  return h("span", { class: "picture", title: block.image_url }, `▧ ${block.alt_text}`);
}

// ---- rich text: what is text stays text

const RICH = {
  rich_text_section: (one, room) => h("p", {}, running(one.elements, room)),
  rich_text_quote: (one, room) => h("blockquote", {}, running(one.elements, room)),
  rich_text_preformatted: (one, room) => h("pre", { tabindex: "0" }, h("code", {}, running(one.elements, room))),
  rich_text_list: (one, room) => h(one.style === "ordered" ? "ol" : "ul",
    { class: `level-${one.indent ?? 0}`, start: one.offset ? one.offset + 1 : undefined },
    one.elements.map((item) => h("li", {}, running(item.elements, room)))),
};

const RUNNING = {
  text: (one) => one.text,
  link: (one) => h("a", { href: one.url, target: "_blank", rel: "noopener noreferrer" }, one.text ?? one.url),
  emoji: (one) => plain(`:${one.name}:`),
  user: (one, room) => h("span", { class: "mention" }, `@${room.names.user(one.user_id)}`),
  channel: (one, room) => h("span", { class: "mention" }, `#${room.names.channel(one.channel_id) ?? one.channel_id}`),
  broadcast: (one) => h("span", { class: "mention" }, `@${one.range}`),
  date: (one) => one.fallback ?? "",
};

const STYLES = { code: "code", bold: "strong", italic: "em", strike: "s", underline: "u" };

function running(elements, room) {
  return elements.map((one) => Object.entries(STYLES)
    .filter(([style]) => one.style?.[style])
    .reduce((inner, [, tag]) => h(tag, {}, inner), RUNNING[one.type]?.(one, room) ?? `[${one.type}]`));
}

// ---- elements that can be touched

const ELEMENTS = {
  button: (one, block, room) => h("button",
    { type: "button", class: `button ${one.style ?? ""}`, "aria-label": one.accessibility_label, ...marks(one, block, room), onclick: (event) => press(event.currentTarget, one, room) },
    plain(one.text.text)),
  static_select: (one, block, room) => choices(one, block, room, one.option_groups
    ? one.option_groups.map((group) => h("optgroup", { label: plain(group.label.text) }, group.options.map(option)))
    : one.options.map(option), one.initial_option?.value),
  multi_static_select: (one, block, room) => several(one, block, room),
  users_select: (one, block, room) => choices(one, block, room,
    room.people().map((user) => h("option", { value: user.id }, user.real_name)), one.initial_user),
  multi_users_select: (one, block, room) => several(
    { ...one, options: room.people().map((user) => ({ value: user.id, text: { text: user.real_name } })), initial_options: one.initial_users?.map((value) => ({ value })) },
    block, room),
  channels_select: (one, block, room) => places(one, block, room, one.initial_channel),
  conversations_select: (one, block, room) => places(one, block, room, one.initial_conversation),
  overflow: (one, block, room) => h("button",
    { type: "button", class: "button icon", "aria-label": "More actions", "aria-haspopup": "menu", ...marks(one, block, room), onclick: (event) => more(event.currentTarget, one, room) },
    "⋯"),
  radio_buttons: (one, block, room) => ticks("radio", one, block, room, [one.initial_option?.value]),
  checkboxes: (one, block, room) => ticks("checkbox", one, block, room, one.initial_options?.map((o) => o.value) ?? []),
  datepicker: (one, block, room) => field("date", one, block, room, one.initial_date),
  datetimepicker: (one, block, room) => field("datetime-local", one, block, room, one.initial_date_time && local(one.initial_date_time)),
  timepicker: (one, block, room) => field("time", one, block, room, one.initial_time),
};

export function element(one, block, room) {
  if (one.type === "image") return picture(one);
  return (ELEMENTS[one.type] ?? ((other) => h("span", { class: "faint" }, `[${other.type}]`)))(one, block, room);
}

function marks(one, block, room) {
  return {
    "data-action-id": one.action_id,
    "data-block-id": block.block_id,
    "data-value": one.value,
    "data-ts": room.ts,
    "data-channel": room.channel,
  };
}

const option = (one) => h("option", { value: one.value }, plain(one.text.text));

function choices(one, block, room, options, chosen) {
  const prompt = plain(one.placeholder?.text ?? "Choose…");
  const select = h("select",
    { class: "button", "aria-label": prompt, ...marks(one, block, room), onchange: (event) => press(event.currentTarget, one, room, event.currentTarget.value) },
    h("option", { value: "", disabled: !room.form, hidden: !room.form }, prompt), options);
  select.value = chosen ?? "";
  return select;
}

// Many options in little room: a list of boxes that scrolls.
function several(one, block, room) {
  const chosen = one.initial_options?.map((option) => option.value) ?? [];
  const all = one.option_groups?.flatMap((group) => group.options) ?? one.options;
  const list = ticks("checkbox", { ...one, options: all }, block, room, chosen);
  list.classList.add("several");
  return list;
}

function places(one, block, room, chosen) {
  return choices(one, block, room, room.places().map((place) => h("option", { value: place.id }, `#${place.name}`)), chosen);
}

function more(anchor, one, room) {
  openMenu(anchor, "More actions", one.options.map((choice) => ({
    label: plain(choice.text.text),
    attributes: { "data-action-id": one.action_id, "data-value": choice.value },
    do: () => press(anchor, one, room, choice.value),
  })));
}

function ticks(kind, one, block, room, chosen) {
  const name = `${room.ts ?? room.form}-${block.block_id}-${one.action_id}`;
  const report = (event) => {
    const ticked = [...event.currentTarget.closest(".ticks").querySelectorAll("input:checked")].map((box) => box.value);
    press(event.currentTarget, one, room, kind === "radio" ? ticked[0] : ticked);
  };
  return h("div", { class: "ticks", role: "group", ...marks(one, block, room) }, one.options.map((choice) => h("label", {},
    h("input", { type: kind, name, value: choice.value, checked: chosen.includes(choice.value), onchange: report }),
    h("span", {}, plain(choice.text.text), choice.description && h("small", { class: "faint" }, plain(choice.description.text))))));
}

function field(type, one, block, room, value) {
  return h("input", { type, class: "button", value: value ?? "", "aria-label": plain(one.placeholder?.text ?? type),
    ...marks(one, block, room), onchange: (event) => press(event.currentTarget, one, room, event.currentTarget.value) });
}

// As an input of the page has it, in the clock of this machine.
function local(seconds) {
  const at = new Date(seconds * 1000);
  return new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

async function press(target, one, room, value) {
  if (room.form && target.closest(".input")) return;
  if (one.confirm && !(await room.confirm(one.confirm))) return;
  if (one.url) window.open(one.url, "_blank", "noopener");
  target.setAttribute("aria-busy", "true");
  try {
    await room.press(one, value ?? one.value);
  } finally {
    target.removeAttribute("aria-busy");
  }
}

// ---- inputs of a modal

const INPUTS = {
  plain_text_input: (one) => (one.multiline ? h("textarea", { rows: "4" }) : h("input", { type: "text" })),
  number_input: () => h("input", { type: "text", inputmode: "decimal" }),
  email_text_input: () => h("input", { type: "email" }),
  url_text_input: () => h("input", { type: "url" }),
};

function input(block, room) {
  const one = block.element;
  const id = `input-${block.block_id}`;
  const control = INPUTS[one.type] ? typedIn(one, block, room) : element(one, block, room);
  const problem = room.errors?.[block.block_id];
  control.id = id;
  control.removeAttribute("aria-label"); // the label above it is its name
  if (control.classList.contains("ticks")) control.setAttribute("aria-labelledby", `${id}-label`);
  control.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
  if (problem) control.setAttribute("aria-invalid", "true");
  return h("div", { class: "block input", "data-block-id": block.block_id },
    h("label", { for: id, id: `${id}-label` }, plain(block.label.text), block.optional && h("span", { class: "faint" }, " (optional)")),
    control,
    h("p", { class: "faint hint", id: `${id}-hint` }, plain(block.hint?.text)),
    h("p", { class: "error", id: `${id}-error` }, problem));
}

function typedIn(one, block, room) {
  const control = INPUTS[one.type](one);
  for (const [name, value] of Object.entries({ ...marks(one, block, room), placeholder: one.placeholder && plain(one.placeholder.text), maxlength: one.max_length, minlength: one.min_length })) {
    if (value !== undefined) control.setAttribute(name, value);
  }
  control.value = one.initial_value ?? "";
  return control;
}

// What was entered, by action_id.
export function entered(form) {
  const values = {};
  for (const control of form.querySelectorAll("[data-action-id]")) {
    if (control.tagName === "BUTTON") continue;
    const written = control.type === "datetime-local" ? Math.floor(new Date(control.value) / 1000) : control.value;
    values[control.dataset.actionId] = control.classList.contains("ticks") ? ticked(control) : written || null;
  }
  return values;
}

function ticked(group) {
  const chosen = [...group.querySelectorAll("input:checked")];
  return chosen[0]?.type === "radio" ? chosen[0].value : chosen.length || group.querySelector("[type=checkbox]") ? chosen.map((box) => box.value) : null;
}
