"use strict";
(() => {
  const form = document.getElementById("filters");
  const transcript = document.getElementById("transcript");
  form.hidden = false; // without a script there is nothing to filter with
  const shown = form.querySelector("output");
  const rounds = [...document.querySelectorAll(".round")].map((section) => ({
    section,
    round: Number(section.dataset.round),
    step: section.dataset.step,
  }));
  const total = document.querySelectorAll("#record li").length;

  // Nobody filters before the page is there: lines are looked at one by one only then.
  const linesOf = (one) =>
    (one.lines ??= [...one.section.querySelectorAll("li")].map((line) => ({ line, who: line.dataset.who })));
  const tell = (count) => {
    shown.value = `${count.toLocaleString("en")} of ${total.toLocaleString("en")} lines`;
  };

  const steps = [...new Set(rounds.map((one) => one.step))].filter(Boolean).sort();
  for (const step of steps) {
    form.elements.step.append(new Option(step, step));
  }

  const put = (element, hidden) => {
    if (element.hidden !== hidden) element.hidden = hidden;
  };

  const filter = () => {
    const boxes = [...form.querySelectorAll("[name=who]")];
    const who = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const everybody = who.size === boxes.length;
    const step = form.elements.step.value;
    const first = Number(form.elements.from.value || 0);
    const last = Number(form.elements.to.value || Infinity);
    let count = 0;
    for (const one of rounds) {
      let seen = 0;
      if ((!step || one.step === step) && one.round >= first && one.round <= last) {
        for (const { line, who: by } of linesOf(one)) {
          const wanted = everybody || by === undefined || who.has(by);
          put(line, !wanted);
          seen += wanted;
        }
      }
      put(one.section, !seen);
      count += seen;
    }
    tell(count);
  };

  // A browser that comes back to the page may have kept what was chosen.
  const untouched = () =>
    [...form.querySelectorAll("[name=who]")].every((box) => box.checked) &&
    ["step", "from", "to"].every((name) => !form.elements[name].value);

  // A link to a line shows it, whatever is filtered.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !transcript.contains(target)) return;
    transcript.open = true;
    if (target.closest("[hidden]")) {
      form.reset();
      filter();
    }
    target.scrollIntoView();
  };

  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", reveal);
  if (untouched()) tell(total);
  else filter();
  reveal();
})();
