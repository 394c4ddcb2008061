"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const model = data.model, summary = model.summary, names = model.features.map((f) => f.name);
const labels = data.labels, isClassifier = model.classes !== null;
const byId = (id) => document.getElementById(id);

/* The model: what RuleBase computes, number for number. */

function softmax(values) {
  const top = Math.max(...values), powers = values.map((v) => Math.exp(v - top));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((p) => p / total);
}

function link(outputs) {
  if (model.link === "softmax") return softmax(outputs);
  if (model.link === "identity") return outputs;
  const positive = outputs.map((v) => Math.max(v, 0)), total = positive.reduce((a, b) => a + b, 0);
  return total > 0 ? positive.map((v) => v / total) : outputs.map(() => 1 / outputs.length);
}

function predict(x) {
  const z = x.map((value, d) => (value - model.features[d].mean) / model.features[d].scale);
  const inputs = [1, ...z];
  const firing = softmax(model.rules.map((rule) => rule.widths.reduce(
    (sum, width, d) => width === null ? sum : sum - 0.5 * ((z[d] - rule.centers[d]) / width) ** 2, 0)));
  const contributions = model.rules.map((rule, r) => rule.outputs[0].map((_, c) =>
    firing[r] * rule.outputs.reduce((sum, slope, k) => sum + slope[c] * inputs[k], 0)));
  const outputs = contributions[0].map((_, c) => contributions.reduce((sum, added) => sum + added[c], 0));
  const probabilities = link(outputs);
  return { firing, contributions, outputs, probabilities, answer: outputs.indexOf(Math.max(...outputs)) };
}

/* Small pieces of page. */

function make(tag, properties = {}, ...children) {
  const namespace = "http://www.w3.org/2000/svg";
  const drawn = ["svg", "rect", "path", "line", "title"].includes(tag);
  const element = drawn ? document.createElementNS(namespace, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const show = (value) => Number(value.toPrecision(5)).toString();
const percent = (share) => (100 * share).toFixed(share > 0 && share < 0.005 ? 1 : 0) + " %";

function bar(name, share, text, kind) {
  const fill = make("i", { class: kind || "" });
  fill.style.width = 100 * Math.min(Math.max(share, 0), 1) + "%";
  return make("div", { class: "bar" }, make("span", {}, name), make("span", { class: "track" }, fill), make("span", {}, text));
}

function range(d) {
  if (summary) {
    const low = summary.quantiles[0][d], high = summary.quantiles[summary.quantiles.length - 1][d];
    if (high > low) return [low, high];
  }
  const { mean, scale } = model.features[d];
  return [mean - 3 * scale, mean + 3 * scale];
}

function shown(d) {
  const last = summary ? summary.quantiles.length : 0;
  if (summary && summary.quantiles[last - 2][d] > summary.quantiles[1][d]) return [summary.quantiles[1][d], summary.quantiles[last - 2][d]];
  return range(d);
}

/* Conditions as small pictures: the data, the bell curve, and where the row is now. */

const WIDTH = 104, HEIGHT = 34;

function picture(r, d) {
  const [low, high] = shown(d), across = (value) => WIDTH * (value - low) / (high - low);
  const { mean, scale } = model.features[d], rule = model.rules[r];
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "membership of " + names[d] });
  if (summary) {
    const counts = summary.counts[d], most = Math.max(...counts), wide = WIDTH / counts.length;
    counts.forEach((count, k) => svg.append(make("rect", {
      class: "data", x: k * wide, width: wide * 0.9, y: HEIGHT * (1 - count / most), height: HEIGHT * count / most })));
  }
  const points = Array.from({ length: 53 }, (_, k) => {
    const value = low + (high - low) * k / 52, grade = Math.exp(-0.5 * (((value - mean) / scale - rule.centers[d]) / rule.widths[d]) ** 2);
    return `${across(value).toFixed(1)},${(HEIGHT - 2 - (HEIGHT - 4) * grade).toFixed(1)}`;
  });
  svg.append(make("path", { class: "bell", d: "M" + points.join("L") }), make("line", { class: "at", "data-feature": d, y1: 0, y2: HEIGHT }));
  return svg;
}

function card(sentence, r) {
  const head = make("h3", {}, `Rule ${r + 1}`, make("small", {}, sentence.share && `${sentence.share} of the data`));
  const list = make("ul");
  sentence.conditions.forEach(({ text, feature }, k) => {
    const line = make("li", {}, make("span", {}, make("b", {}, k ? "AND " : "IF "), text));
    if (feature !== null) line.append(picture(r, feature));
    list.append(line);
  });
  const element = make("article", { class: "rule", "aria-label": `Rule ${r + 1}` }, head, list);
  if (sentence.shares) sentence.shares.forEach((share, c) => element.append(bar(labels[c], share, share.toFixed(2))));
  else element.append(...sentence.conclusion.map((text) => make("p", { class: "says" }, text)));
  element.append(make("div", { class: "now" }));
  return element;
}

const cards = data.sentences.map(card);

function arrange() {
  const wanted = byId("filter").value.trim().toLowerCase(), order = byId("order").value;
  const keys = {
    number: (r) => r,
    support: (r) => -(summary && summary.support ? summary.support[r] : 0),
    length: (r) => model.rules[r].widths.filter((width) => width !== null).length,
    firing: (r) => -now.firing[r],
  };
  const rules = cards.map((_, r) => r).sort((a, b) => keys[order](a) - keys[order](b) || a - b);
  const kept = rules.filter((r) => cards[r].textContent.toLowerCase().includes(wanted));
  byId("rules").replaceChildren(...kept.map((r) => cards[r]));
  byId("shown").textContent = `${kept.length} of ${cards.length} rule${cards.length === 1 ? "" : "s"}`;
}

/* What if. */

let now = null;
const typical = data.typical, x = [...typical];
const controls = names.map((name, d) => {
  const [low, high] = range(d);
  const slider = make("input", { type: "range", min: low, max: high, step: "any", "aria-label": name });
  const number = make("input", { type: "number", step: "any", id: `feature-${d}` });
  slider.addEventListener("input", () => set(d, slider.valueAsNumber));
  number.addEventListener("input", () => {
    number.setAttribute("aria-invalid", !Number.isFinite(number.valueAsNumber));
    if (Number.isFinite(number.valueAsNumber)) set(d, number.valueAsNumber, number);
  });
  return { slider, number, row: make("div", { class: "feature" }, make("label", { for: `feature-${d}` }, name), slider, number) };
});

/* Features that stand for the values of one choice change together. */

const choiceOf = {};
data.choices.forEach((choice, k) => {
  choice.select = make("select", { id: `choice-${k}` }, ...choice.options.map(([value], o) => make("option", { value: o }, value)));
  choice.select.addEventListener("change", () => {
    const [, code] = choice.options[choice.select.value];
    choice.features.forEach((d, place) => { x[d] = code[place]; });
    refresh();
  });
  choice.row = make("div", { class: "feature" }, make("label", { for: `choice-${k}` }, choice.name), choice.select);
  choice.features.forEach((d) => { choiceOf[d] = choice; });
});

const optionOf = (choice) => choice.options.findIndex(([, code]) => code.every((value, place) => value === x[choice.features[place]]));

function set(d, value, source) {
  x[d] = value;
  controls[d].slider.value = value;
  if (source !== controls[d].number) controls[d].number.value = show(value);
  refresh();
}

function start(values) {
  values.forEach((value, d) => {
    x[d] = value;
    controls[d].slider.value = value;
    controls[d].number.value = value;
    controls[d].number.setAttribute("aria-invalid", false);
  });
  data.choices.forEach((choice) => { choice.select.value = optionOf(choice); });
  refresh();
}

function refresh() {
  now = predict(x);
  const parts = [];
  if (isClassifier) {
    parts.push(make("h3", {}, labels[now.answer]));
    now.probabilities.forEach((p, c) => parts.push(bar(labels[c], p, p.toFixed(3))));
  } else {
    parts.push(make("h3", {}, `${labels[0]} = ${show(now.outputs[0])}`));
  }
  const heard = now.firing.map((f, r) => [f, r]).filter(([f]) => f >= 0.01).sort((a, b) => b[0] - a[0]);
  const list = make("ul", { class: "reasons" });
  for (const [f, r] of heard) {
    const added = now.contributions[r], best = added.indexOf(Math.max(...added));
    const mean = added.reduce((a, b) => a + b, 0) / added.length;
    const says = isClassifier ? `adds ${signed(added[best] - (model.link === "softmax" ? mean : 0))} to ${labels[best]}` : `adds ${show(added[0])}`;
    list.append(make("li", {}, `Rule ${r + 1} counts ${percent(f)} and ${says}`));
  }
  parts.push(list);
  byId("answer").replaceChildren(...parts);
  cards.forEach((element, r) => element.querySelector(".now").replaceChildren(bar("now", now.firing[r], percent(now.firing[r]), "now")));
  cards.forEach((element) => element.querySelectorAll(".at").forEach(place));
  if (byId("order").value === "firing") arrange();
}

const signed = (value) => (value >= 0 ? "+" : "−") + Math.abs(value).toFixed(2);

function place(mark) {
  const d = Number(mark.dataset.feature), [low, high] = shown(d);
  const at = Math.min(Math.max(WIDTH * (x[d] - low) / (high - low), 1), WIDTH - 1);
  mark.setAttribute("x1", at);
  mark.setAttribute("x2", at);
}

/* Features that matter most come first. */

function weight(d) {
  return model.rules.reduce((sum, rule) => sum + (rule.widths[d] === null ? 0 : rule.widths[d] ** -2)
    + (rule.outputs.length > 1 ? Math.max(...rule.outputs[d + 1].map(Math.abs)) : 0), 0);
}

function lay() {
  const used = names.map((_, d) => d).filter((d) => weight(d) > 0).sort((a, b) => weight(b) - weight(a));
  const rows = [...new Set(used.map((d) => choiceOf[d] ? choiceOf[d].row : controls[d].row))];
  byId("inputs").append(...rows.slice(0, 12));
  const rest = rows.slice(12);
  if (rest.length) {
    byId("more-inputs").hidden = false;
    byId("more-inputs").querySelector("summary").textContent = `${rest.length} more features`;
    byId("more-inputs").querySelector("div").append(...rest);
  }
  byId("start").append(make("option", { value: -1 }, "typical values"), ...data.examples.map((example, k) => make("option", { value: k }, example.name)));
  byId("start").addEventListener("change", (event) => start(event.target.value < 0 ? typical : data.examples[event.target.value].values));
  byId("filter").addEventListener("input", arrange);
  byId("order").addEventListener("change", arrange);
}

function evaluation() {
  if (!data.evaluations.length) return;
  byId("evaluation").hidden = false;
  const measures = Object.keys(data.evaluations[0].measures);
  byId("measures").append(make("caption", {}, `On ${data.evaluations[0].n_rows} rows held out`),
    make("tr", {}, make("th", {}, ""), ...measures.map((name) => make("th", { scope: "col" }, name))),
    ...data.evaluations.map((one) => make("tr", {}, make("th", { scope: "row" }, one.name), ...measures.map((name) => make("td", {}, one.measures[name].toFixed(3))))));
  const confusion = data.evaluations[0].confusion;
  if (confusion) byId("confusion").append(make("caption", {}, "What rows are (down) and what the rules say (across)"),
    make("tr", {}, make("th", {}, ""), ...labels.map((label) => make("th", { scope: "col" }, label))),
    ...confusion.map((row, k) => make("tr", {}, make("th", { scope: "row" }, labels[k]), ...row.map((count) => make("td", {}, show(count))))));
}

byId("about").textContent = data.about;
lay();
evaluation();
start(typical);
arrange();
window.sessc = { predict };
