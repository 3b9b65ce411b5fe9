"use strict";
const all = (where, what) => [...where.querySelectorAll(what)];
const rows = all(document, "details.row");
const data = JSON.parse(document.getElementById("rows").textContent);
const escaped = (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0");

document.addEventListener("toggle", (event) => {
  const raw = event.target.open && event.target.querySelector(":scope > pre.raw:empty");
  if (raw) raw.textContent = JSON.stringify(data[Number(raw.dataset.at)], null, 2)
    .replace(/[\p{Cf}\p{Co}\u2028\u2029]/gu, (sign) => sign.split("").map(escaped).join(""));
}, true);

const fold = (open) => rows.forEach((row) => { if (row.querySelector("details.row")) row.open = open; });
document.getElementById("unfold").addEventListener("click", () => fold(true));
document.getElementById("fold").addEventListener("click", () => fold(false));

const find = document.getElementById("find");
const failed = document.getElementById("failed");
const sift = () => {
  const word = find.value.toLowerCase();
  const fits = (row) => (!failed.checked || row.classList.contains("failed"))
    && row.querySelector(".name").textContent.toLowerCase().includes(word);
  const kept = new Set();
  rows.filter(fits).forEach((row) => {
    for (let up = row; up; up = up.parentElement.closest("details.row")) kept.add(up);
  });
  rows.forEach((row) => { row.hidden = !kept.has(row); });
};
find.addEventListener("input", sift);
failed.addEventListener("change", sift);

document.getElementById("order").addEventListener("change", (event) => {
  const by = event.target.value;
  const sign = by === "at" ? 1 : -1;
  new Set(rows.map((row) => row.parentElement)).forEach((above) => {
    const below = all(above, ":scope > details.row");
    below.sort((one, other) => sign * (one.dataset[by] - other.dataset[by]));
    below.forEach((row) => above.append(row));
  });
});

document.body.classList.add("scripted");
