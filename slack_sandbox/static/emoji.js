// The shortcodes people and personas use most. Anything else is shown as it was written.

const NAMES = {
  "+1": "👍", "-1": "👎", "100": "💯", alarm_clock: "⏰", ambulance: "🚑", art: "🎨", arrow_down: "⬇️",
  arrow_left: "⬅️", arrow_right: "➡️", arrow_up: "⬆️", balloon: "🎈", bar_chart: "📊", bell: "🔔", blue_book: "📘",
  blush: "😊", book: "📖", bookmark: "🔖", books: "📚", brain: "🧠", bricks: "🧱", bug: "🐛",
  building_construction: "🏗️", bulb: "💡", busts_in_silhouette: "👥", calendar: "📅", card_index_dividers: "🗂️",
  chart_with_upwards_trend: "📈", checkered_flag: "🏁", clap: "👏", clipboard: "📋", closed_book: "📕",
  clock3: "🕒", cloud: "☁️", coffee: "☕", compass: "🧭", computer: "💻", construction: "🚧", crystal_ball: "🔮",
  cyclone: "🌀", dart: "🎯", desktop_computer: "🖥️", door: "🚪", ear: "👂", envelope: "✉️", exclamation: "❗",
  eye: "👁️", eyeglasses: "👓", eyes: "👀", face_with_monocle: "🧐", fast_forward: "⏩", file_folder: "📁", fire: "🔥",
  floppy_disk: "💾", gear: "⚙️", gem: "💎", globe_with_meridians: "🌐", grey_question: "❔", grinning: "😀",
  green_book: "📗", hammer: "🔨", hammer_and_wrench: "🛠️", handshake: "🤝", heart: "❤️", heavy_check_mark: "✔️",
  hourglass: "⌛", hourglass_flowing_sand: "⏳", information_source: "ℹ️", joy: "😂", jigsaw: "🧩", key: "🔑",
  label: "🏷️", laptop: "💻", leaves: "🍃", ledger: "📒", link: "🔗", lock: "🔒", loudspeaker: "📢", mag: "🔍",
  mag_right: "🔎", mailbox: "📫", man_in_business_suit_levitating: "🕴️", map: "🗺️", mega: "📣", memo: "📝",
  microphone: "🎤", microscope: "🔬", muscle: "💪", newspaper: "📰", no_entry: "⛔", no_entry_sign: "🚫",
  notebook: "📓", ok: "🆗", ok_hand: "👌", open_file_folder: "📂", open_hands: "👐", orange_book: "📙",
  package: "📦", page_facing_up: "📄", paperclip: "📎", partying_face: "🥳", pencil: "📝", pencil2: "✏️", people_hugging: "🫂",
  performing_arts: "🎭", point_right: "👉", pray: "🙏", pushpin: "📌", puzzle_piece: "🧩", question: "❓",
  raised_hand: "✋", raised_hands: "🙌", recycle: "♻️", red_circle: "🔴", repeat: "🔁", robot_face: "🤖", rocket: "🚀",
  rotating_light: "🚨", round_pushpin: "📍", ruler: "📏", scales: "⚖️", scroll: "📜", seedling: "🌱", shield: "🛡️",
  shrug: "🤷", slightly_smiling_face: "🙂", smile: "😄", sos: "🆘", sparkles: "✨", speech_balloon: "💬",
  spiral_note_pad: "🗒️", star: "⭐", stop_sign: "🛑", stopwatch: "⏱️", straight_ruler: "📏", sunny: "☀️", tada: "🎉",
  telescope: "🔭", test_tube: "🧪", thinking_face: "🤔", thought_balloon: "💭", thumbsup: "👍", thumbsdown: "👎",
  toolbox: "🧰", triangular_flag_on_post: "🚩", triangular_ruler: "📐", unlock: "🔓", vertical_traffic_light: "🚦",
  warning: "⚠️", wastebasket: "🗑️", wave: "👋", white_check_mark: "✅", woman_judge: "👩‍⚖️", wrench: "🔧", writing_hand: "✍️",
  x: "❌", yellow_heart: "💛", zap: "⚡", zzz: "💤", large_green_circle: "🟢", large_yellow_circle: "🟡", large_blue_circle: "🔵",
  black_square_for_stop: "⏹️", black_right_pointing_triangle: "▶️", arrow_forward: "▶️", double_vertical_bar: "⏸️",
  next_track_button: "⏭️", track_next: "⏭️", leftwards_arrow_with_hook: "↩️", ballot_box_with_check: "☑️", tea: "🍵",
  one: "1️⃣", two: "2️⃣", three: "3️⃣", four: "4️⃣", five: "5️⃣", six: "6️⃣", seven: "7️⃣", eight: "8️⃣", nine: "9️⃣",
};

// Undefined for what is not known, and for what this machine has no glyph for: better a name than an empty box.
export function emoji(name) {
  const sign = NAMES[name.replace(/^:|:$/g, "").replace(/::skin-tone-\d$/, "")];
  return sign && drawable(sign) ? sign : undefined;
}

const drawn = new Map();
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
canvas.canvas.width = canvas.canvas.height = 24;
canvas.font = "16px system-ui, sans-serif";
canvas.textBaseline = "top";
const NOTHING = pixels("\u{10FFFF}");

function drawable(sign) {
  if (!drawn.has(sign)) drawn.set(sign, pixels(String.fromCodePoint(sign.codePointAt(0))) !== NOTHING);
  return drawn.get(sign);
}

function pixels(sign) {
  canvas.clearRect(0, 0, 24, 24);
  canvas.fillText(sign, 2, 2);
  return canvas.getImageData(0, 0, 24, 24).data.join();
}

// The last four are those by which people mark a message.
export const QUICK = [
  "eyes", "white_check_mark", "raised_hands", "heart", "thinking_face", "pushpin", "raised_hand", "question", "no_entry_sign",
];
