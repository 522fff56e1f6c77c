"use strict";
(function () {
  const marks = Array.from(document.querySelectorAll("a.mark, a.chip[data-state], a.box"));
  const boxes = Array.from(document.querySelectorAll("input[name=state]"));
  const find = document.getElementById("find");
  const shown = document.getElementById("shown");
  function apply() {
    const on = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const word = find.value.trim().toLowerCase();
    let count = 0;
    for (const mark of marks) {
      const row = mark.closest(".row, .piece, .part") || mark;
      const fits = on.has(mark.dataset.state) &&
        (!word || (mark.getAttribute("aria-label") + " " + row.textContent).toLowerCase().includes(word));
      mark.classList.toggle("gone", !fits);
      if (fits && mark.classList.contains("mark")) count += 1;
    }
    shown.textContent = count + " citations shown";
  }
  for (const box of boxes) box.addEventListener("change", apply);
  find.addEventListener("input", apply);
  document.querySelector(".filter").addEventListener("submit", (event) => event.preventDefault());
  function reveal() {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    const file = target.closest("details");
    if (file) file.open = true;
    for (const old of document.querySelectorAll(".lit")) old.classList.remove("lit");
    target.classList.add("lit");
    target.scrollIntoView({ block: "center" });
  }
  window.addEventListener("hashchange", reveal);
  apply();
  reveal();
})();
