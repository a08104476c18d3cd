"use strict";
for (const area of document.querySelectorAll("[data-pairs]")) {
  const body = area.querySelector("tbody");
  const rows = Array.from(body.rows);
  const attribute = area.querySelector("[data-attribute]");
  const source = area.querySelector("[data-source]");
  const plausible = area.querySelector("[data-plausible]");
  const words = area.querySelector("[data-words]");
  const order = area.querySelector("[data-order]");
  const count = area.querySelector("[data-count]");
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const places = rows.map((row) => row.dataset.attributes.split(" "));
  const filter = () => {
    const wanted = attribute.value;
    const all = source === null || source.value === "";
    const least = plausible === null ? 0 : Number(plausible.value);
    const text = words.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach((row, place) => {
      const kept = (all || row.hasAttribute("data-unmodified")) && !(Number(row.dataset.plausibility) < least);
      const fits = kept && (wanted === "" || places[place].includes(wanted)) && texts[place].includes(text);
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    count.textContent = shown + " of " + rows.length + " pairs";
  };
  const sort = () => {
    const by = order.value;
    const key = (row) => by === "unmodified" ? Number(row.hasAttribute("data-unmodified")) : Number(row.dataset[by]);
    const up = by === "number" ? 1 : -1;
    const gap = (row) => Number(row.dataset.gap);
    const sorted = rows.slice().sort((a, b) =>
      up * (key(a) - key(b)) || gap(b) - gap(a) || Number(a.dataset.number) - Number(b.dataset.number));
    body.append(...sorted);
  };
  attribute.addEventListener("change", filter);
  if (source !== null) {
    source.addEventListener("change", filter);
    source.value = "";
  }
  if (plausible !== null) {
    plausible.addEventListener("change", filter);
    plausible.value = "0";
  }
  words.addEventListener("input", filter);
  order.addEventListener("change", sort);
  area.querySelector(".controls").hidden = false;
  attribute.value = "";
  words.value = "";
  order.selectedIndex = 0;
  filter();
}
