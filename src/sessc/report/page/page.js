"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const model = data.model, summary = model.summary, columns = data.columns, names = columns.map((column) => column.name);
const labels = data.labels, isClassifier = model.classes !== null, isLinear = model.rules[0].outputs.slopes !== null;
data.sentences.forEach((sentence) => {
  sentence.conditions = sentence.conditions.map(([text, feature, top, low, high, excludes]) => ({ text, feature, top, low, high, excludes }));
});
const byId = (id) => document.getElementById(id);
const sum = (values) => values.reduce((a, b) => a + b, 0);
const size = (values) => Math.max(...values.map(Math.abs));
const largest = (values) => values.indexOf(Math.max(...values));

/* The model: what RuleBase computes, number for number. */

function softmax(values) {
  const top = Math.max(...values), powers = values.map((v) => Math.exp(v - top)), total = sum(powers);
  return powers.map((p) => p / total);
}

function link(outputs) {
  if (model.link === "softmax") return softmax(outputs);
  if (model.link === "identity") return outputs;
  const positive = outputs.map((v) => Math.max(v, 0)), total = sum(positive);
  return total > 0 ? positive.map((v) => v / total) : outputs.map(() => 1 / outputs.length);
}

/* A cell is a number, the place of a level, or null where it is missing. */
function standard(value, j) {
  const { mean, scale, limits } = model.columns[j], [low, high] = limits || [null, null];
  const held = low !== null && value < low ? low : high !== null && value > high ? high : value;
  return (held - mean) / scale;
}

const own = (object, key) => object && Object.hasOwn(object, key) ? object[key] : null;  // a column may be called anything
const rules = model.rules.map(({ constant, conditions, outputs }) => ({
  constant, says: outputs.constant,
  asks: model.columns.map(({ name }) => own(conditions, name)),
  slopes: model.columns.map(({ name }) => own(outputs.slopes, name)),
}));

/* What a cell adds to the logarithm of how strongly a rule fires. */
function adds(r, j, cell) {
  const asks = rules[r].asks[j];
  if (!asks) return 0;
  if (cell === null) return asks.unknown;
  if (columns[j].levels) return asks.levels[cell];
  const z = standard(cell, j);
  return asks.slope * z - 0.5 * asks.precision * z * z;
}

/* What a cell adds to a linear conclusion, output by output. */
function term(r, j, cell) {
  const slopes = rules[r].slopes[j], { fill } = model.columns[j];
  if (!columns[j].levels) return slopes.map((slope) => slope * (cell === null ? fill : standard(cell, j)));
  return cell === null ? average(slopes, fill) : slopes[cell];
}

const average = (slopes, shares) => labels.map((_, c) => sum(shares.map((share, k) => share * slopes[k][c])));
const plus = (a, b) => a.map((value, c) => value + b[c]);
const grade = (r, { feature, top }, cell) => Math.exp(Math.min(adds(r, feature, cell) - top, 0));

/* What each rule makes of a row by itself: the logarithm of how strongly it fires, and what it says. */
function heardAlone(x) {
  return rules.map(({ constant, says }, r) => ({
    level: constant + sum(x.map((cell, j) => adds(r, j, cell))),
    says: isLinear ? x.map((cell, j) => term(r, j, cell)).reduce(plus, says) : says,
  }));
}

function together(alone) {
  const firing = softmax(alone.map(({ level }) => level));
  const contributions = alone.map(({ says }, r) => says.map((value) => firing[r] * value));
  const outputs = labels.map((_, c) => sum(contributions.map((added) => added[c])));
  return { firing, contributions, outputs, probabilities: link(outputs), answer: largest(outputs) };
}

const predict = (x) => together(heardAlone(x));

/* What would change the answer: what explain() looks for, in the same way. */

const STEPS = 200, HALVINGS = 40;

/* Columns changed alone, to what they may be: another level that there is, or a number within the data. */
function changes(x) {
  const alone = heardAlone(x), now = answerOf(alone), found = [];
  columns.forEach((column, j) => {
    if (!column.weight) return;
    const add = (value, answer) => answer !== now && found.push({ feature: j, value, answer });
    const changed = (value) => answerOf(heardAlone(x.map((cell, k) => k === j ? value : cell)));
    if (column.levels) Array.from({ length: column.possible }, (_, k) => k).filter((k) => k !== x[j]).forEach((k) => add(k, changed(k)));
    else if (isClassifier) crossings(x, j, (value) => answerOf(moved(x, alone, j, value)), now).forEach((change) => add(...change));
    else steps(x, j).forEach((value) => add(value, changed(value)));
  });
  const far = ({ feature, value }) => columns[feature].levels ? 1 : Math.abs(value - begin(x, feature)) / model.columns[feature].scale;
  const rank = (change) => isClassifier ? far(change) : -Math.abs(change.answer - now);
  return found.sort((a, b) => rank(a) - rank(b));
}

/* Where a number starts to move: where it is, or in the midst of the data if nobody knows. */
const begin = (x, j) => x[j] === null ? data.typical[j] : x[j];

/* The nearest numbers below and above with another answer, and that answer. */
function crossings(x, j, at, now) {
  const start = begin(x, j), [low, high] = columns[j].range;
  const ends = [...(low < start ? [low] : []), ...(high > start ? [high] : [])];
  const found = ends.map((end) => nearest(between(j, start, end), at, now, j)).filter((value) => value !== null);
  return [...new Set(found)].map((value) => [value, at(value)]);
}

function between(j, start, end) {
  const { two, isWhole } = columns[j];
  if (two) return two.includes(start) ? [start, two.find((value) => value !== start)] : [start, end];
  const values = Array.from({ length: STEPS }, (_, k) => k < STEPS - 1 ? start + (end - start) / (STEPS - 1) * k : end);
  return isWhole && Number.isInteger(start) ? [...new Set(values.map(even))] : values;
}

/* To the nearest whole number, as numpy rounds. */
const even = (value) => Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value);

/* Numbers one step down and up that are possible. */
function steps(x, j) {
  const { two, range: [low, high], step } = columns[j], start = begin(x, j);
  if (two) return two.filter((value) => value !== x[j]);
  const values = [low < start ? Math.max(start - step, low) : start, high > start ? Math.min(start + step, high) : start];
  return [...new Set(values)].filter((value) => x[j] === null || value !== start);
}

/* The answer and nothing else, as thousands are needed. */
function answerOf(alone) {
  const firing = softmax(alone.map(({ level }) => level));
  const outputs = labels.map((_, c) => alone.reduce((total, { says }, r) => total + firing[r] * says[c], 0));
  return isClassifier ? largest(outputs) : outputs[0];
}

/* Rules with one cell changed: only what changes is computed, so that many can be tried. */
function moved(x, alone, j, value) {
  return alone.map(({ level, says }, r) => ({
    level: level + adds(r, j, value) - adds(r, j, x[j]),
    says: isLinear ? plus(says, term(r, j, value)).map((all, c) => all - term(r, j, x[j])[c]) : says,
  }));
}

/* The value next to where the answer becomes another one, along values one after the other; null if it never does. */
function nearest(values, at, now, j) {
  const first = values.findIndex((value) => at(value) !== now), whole = columns[j].isWhole && Number.isInteger(values[0]);
  if (first < 0) return null;
  let near = values[Math.max(first - 1, 0)], far = values[first];
  for (let k = 0; k < HALVINGS && !columns[j].two; k++) {
    const middle = whole ? even((near + far) / 2) : (near + far) / 2;
    if (middle === near || middle === far) break;
    if (at(middle) === now) near = middle;
    else far = middle;
  }
  return far;
}

/* Small pieces of page. */

function make(tag, properties = {}, ...children) {
  const namespace = "http://www.w3.org/2000/svg";
  const drawn = ["svg", "rect", "path", "line", "title", "text"].includes(tag);
  const element = drawn ? document.createElementNS(namespace, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/* Numbers have the digits that text has: two of what tells them from their neighbours. */
function number(value, resolution) {
  if (!(resolution > 0 && Number.isFinite(resolution))) return brief(value, 4);
  const places = 1 - Math.floor(Math.log10(resolution)), rounded = toPlaces(value, places) + 0;
  const far = Math.abs(rounded);
  if ((far >= 1e-4 && far < 1e15) || (far === 0 && places < 5)) return rounded.toFixed(Math.min(Math.max(places, 0), 20));
  const digits = far ? Math.floor(Math.log10(far)) + places : 0;
  return rounded.toExponential(Math.min(Math.max(digits, 0), 5)).replace(/e([+-])(\d)$/, "e$10$2");
}

/* Of places behind the point toFixed has a hundred; a number that has no digits there is as it is. */
function toPlaces(value, places) {
  if (places > 0 && places <= 100) return Number(value.toFixed(places));
  const unit = 10 ** -places, steps = value / unit;
  return Math.abs(steps) < 2 ** 53 ? Math.round(steps) * unit : value;
}

const brief = (value, digits) => Number(value.toPrecision(digits)).toString();
const constants = rules.map(({ says }) => says[0]);
const slopesOf = ({ slopes }) => slopes.filter((slope) => slope).flat(2);
const spread = Math.max(...constants) - Math.min(...constants) || (isLinear ? size(rules.flatMap(slopesOf)) : 0);
const amount = (value) => number(value, (spread || Math.abs(value) || 1) / 100);

/* A cell in words, to the digits that tell it from cells so far away. */
function told(j, value, unit = model.columns[j].scale) {
  const { levels, isDate, isWhole } = columns[j];
  if (value === null) return "unknown";
  if (levels) return levels[value];
  if (isDate) return day(value, unit);
  return isWhole && Number.isInteger(value) ? value.toFixed(0) : number(value, unit);
}

/* Days since 1970 as a date, to the minute where that matters. */
function day(value, unit = 1) {
  const moment = new Date(unit >= 1 ? even(value) * 864e5 : even(value * 1440) * 6e4);
  return Number.isNaN(moment.getTime()) ? number(value, unit) : moment.toISOString().slice(0, unit >= 1 ? 10 : 16).replace("T", " ");
}

const percent = (share) => `${(100 * share).toFixed(0)}\u00a0%`;
const soft = (name) => name.replace(/[_/.]/g, "$&\u200b");  // where a long name may break
const several = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

function added(values, c) {
  if (!isClassifier) return amount(values[0]).replace(/^-/, "−");
  const value = values[c] - (model.link === "softmax" ? sum(values) / values.length : 0);  // what all classes get changes nothing
  const text = Math.abs(value) < 1e6 ? Math.abs(value).toFixed(2) : Math.abs(value).toExponential(2);
  return (value < 0 && Number(text) ? "−" : "+") + text;
}

/* Names of classes above columns: letters stand for long ones, and below it says for which. */
const letter = (c) => (c >= 26 ? letter(Math.floor(c / 26) - 1) : "") + String.fromCharCode(65 + c % 26);
const isLong = labels.some((label) => label.length > 12);
const keys = labels.map((label, c) => isLong ? letter(c) : label);
const legend = (classes) => keys.some((key, c) => key !== labels[c]) ? [make("span", { class: "keys" }, ` ${classes.map((c) => `${keys[c]}: ${labels[c]}`).join(", ")}.`)] : [];

function bar(name, share, text, kind = "") {
  const fill = make("i");
  fill.style.width = 100 * Math.min(Math.max(share, 0), 1) + "%";
  return make("div", { class: `bar ${kind}` }, make("span", {}, name), make("span", { class: "track" }, fill), make("span", {}, text));
}

/* Bars for classes: all of a few in their own order, of many the largest. */
function bars(shares, digits) {
  const order = shares.map((_, c) => c), best = largest(shares);
  const few = shares.length <= 6 ? order : order.sort((a, b) => shares[b] - shares[a]).slice(0, 5);
  const rest = shares.length - few.length;
  return [...few.map((c) => bar(labels[c], shares[c], shares[c].toFixed(digits), `${c === best ? "best" : ""} ${isLong ? "stacked" : ""}`)),
    ...(rest ? [make("p", { class: "hint" }, `${rest} more classes`)] : [])];
}

/* Conditions as small pictures: the data, how well cells meet them, and where the row is now. */

const WIDTH = 104, HEIGHT = 34;
const isNarrow = matchMedia("(max-width: 46rem)").matches;
const isMany = data.sentences.length > 6;
const [FEW, SHOWN, INPUTS, HEARD, MEASURES, MATTER] = !isNarrow ? [4, 12, 12, 6, Infinity, 5] : isMany ? [2, 1, 2, 2, 3, 3] : [3, 3, 3, 3, 3, 3];  // before one unfolds the others
if (isNarrow) document.querySelectorAll("details.unframed").forEach((one) => { one.open = false; });
const tall = (share) => ({ y: HEIGHT * (1 - share), height: HEIGHT * share });

function picture(r, condition) {
  const j = condition.feature, svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `how well ${names[j]} fits` });
  svg.append(...(columns[j].levels ? levelBars(r, condition) : curve(r, condition)), make("line", { class: "at", "data-feature": j, y1: 0, y2: HEIGHT }));
  return svg;
}

function curve(r, condition) {
  const [low, high] = columns[condition.feature].shown, drawn = [];
  if (summary) {
    const counts = summary.counts[condition.feature], most = Math.max(...counts, 1e-300), wide = WIDTH / counts.length;
    drawn.push(...counts.map((count, k) => make("rect", { class: "data", x: k * wide, width: wide * 0.9, ...tall(count / most) })));
  }
  const points = Array.from({ length: 53 }, (_, k) => {
    const height = grade(r, condition, low + (high - low) * k / 52);
    return `${(WIDTH * k / 52).toFixed(1)},${(HEIGHT - 2 - (HEIGHT - 4) * height).toFixed(1)}`;
  });
  return [...drawn, make("path", { class: "bell", d: "M" + points.join("L") })];
}

/* A place for each level, and one for cells that are missing where there were some. */
function levelBars(r, condition) {
  const j = condition.feature, cells = slots(j), wide = WIDTH / cells.length;
  const shares = summary ? [...summary.levels[j], summary.missing[j]] : [], most = Math.max(...shares, 1e-300);
  return cells.flatMap((cell, k) => [
    make("rect", { class: "data", x: (k + 0.1) * wide, width: wide * 0.8, ...tall((shares[k] || 0) / most) }),
    make("rect", { class: "level", x: (k + 0.32) * wide, width: wide * 0.36, ...tall(grade(r, condition, cell)) },
      make("title", {}, `${told(j, cell)}: fits ${percent(grade(r, condition, cell))}`)),
  ]);
}

const slots = (j) => [...columns[j].levels.keys(), ...(columns[j].mayLack ? [null] : [])];

function card(sentence, r) {
  const head = make("h3", {}, `Rule ${r + 1}`, make("small", {}, sentence.share));
  const element = make("article", { class: cardCount > 1 ? "rule" : "rule alone", id: `rule-${r + 1}`, "aria-label": `Rule ${r + 1}` }, head);
  if (cardCount > 1) element.append(make("div", { class: "counts" }));
  const list = make("ul"), weak = make("ul"), strong = sentence.conditions.length > FEW + 1 ? FEW : FEW + 1;
  sentence.conditions.forEach((condition, k) => (k < strong ? list : weak).append(make("li", {},
    make("span", {}, make("b", {}, k ? "AND " : "IF "), condition.text.replace(/(\d)-(?=\d\d)/g, "$1\u2011")),  // dates never break
    make("span", { class: "fit" }, picture(r, condition), make("small", { class: "grade", "data-feature": condition.feature, "data-place": k })))));
  const then = sentence.isRest ? "OTHERWISE" : list.children.length ? "THEN" : "ALWAYS";
  element.append(list, ...folded(weak, "weaker condition"), make("b", { class: "then" }, then));
  if (sentence.shares) element.append(...bars(sentence.shares, 2));
  else element.append(...sentence.conclusion.map((text) => make("p", { class: "says" }, text)));
  if (isLinear && moving(r).flatMap((j) => termsOf(r, j)).length > data.terms) element.append(allTerms(r));
  if (sentence.seen) element.append(make("p", { class: "seen" }, make("b", {}, "SEEN "), sentence.seen));
  return element;
}

/* What comes after the first few, for those who want to see it; nothing if there is nothing. */
function folded(content, noun) {
  const n = content.children.length;
  return n ? [make("details", { class: "fold" }, make("summary", {}, several(n, `more ${noun}`).replace("more weaker", "weaker")), content)] : [];
}

const fillings = new Map();  // what fills a part of the page that is empty until it is opened

/* A linear conclusion in full, once somebody asks for it. */
function allTerms(r) {
  const element = make("details", {}, make("summary", {}, `All terms of ${several(moving(r).length, "column")}`));
  fillings.set(element, () => { if (element.children.length < 2) element.append(make("div", { class: "wide" }, terms(r))); });
  element.addEventListener("toggle", fillings.get(element));
  return element;
}

/* What a rule says where its linear conclusion is measured from: in its own midst. */
function atOrigin(r) {
  const { says, slopes } = rules[r], { origin } = data.sentences[r];
  const part = (j) => columns[j].levels ? average(slopes[j], model.columns[j].fill) : slopes[j].map((slope) => slope * origin[j]);
  return isLinear ? names.map((_, j) => part(j)).reduce(plus, says) : says;
}

/* Columns that move a linear conclusion. */
const moving = (r) => names.map((_, j) => j).filter((j) => rules[r].slopes[j].flat().some((slope) => slope !== 0));

function terms(r) {
  const odds = model.link === "softmax" && labels.length === 2;  // the other class's odds are the inverse
  const shown = (values) => odds ? [values[1] - values[0]] : values, heads = odds ? [`log-odds of ${labels[1]}`] : labels;
  const line = (name, cells) => make("tr", {}, make("th", { scope: "row" }, soft(name)), ...cells.map((cell) => make("td", {}, brief(cell, 3))));
  const parts = moving(r).flatMap((j) => termsOf(r, j)).map(([name, values, weight]) => [name, shown(values), size(shown(values)) * weight]);
  return make("table", {}, make("tr", {}, make("th", {}, "factor of"), ...heads.map((head) => make("th", { scope: "col" }, head))),
    make("tr", {}, make("th", { scope: "row" }, "constant"), ...shown(atOrigin(r)).map((value) => make("td", {}, brief(value, 4)))),
    ...parts.sort((a, b) => b[2] - a[2]).map(([name, values]) => line(name, values)));
}

/* The terms of a column: their names, factors, and how far the column moves each. */
function termsOf(r, j) {
  const { mean, scale, fill } = model.columns[j], slopes = rules[r].slopes[j];
  if (columns[j].levels) {
    const usual = average(slopes, fill);
    return slopes.map((values, k) => [`${names[j]} is ${columns[j].levels[k]}`, values.map((value, c) => value - usual[c]), Math.sqrt(Math.max(fill[k], 0))]);
  }
  const center = mean + scale * data.sentences[r].origin[j];
  const from = columns[j].isDate ? `days of ${names[j]} since ${day(center)}` : `${names[j]} ${center >= 0 ? "−" : "+"} ${number(Math.abs(center), scale)}`;
  return [[from, slopes.map((slope) => slope / scale), scale]];
}

const cardCount = data.sentences.length;
const cards = data.sentences.map(card);

/* What a rule can be found by: what it asks for, as it is shown, and the class it is mostly for. */
const findable = data.sentences.map(({ conditions }, r) => {
  const asked = conditions.flatMap(({ text, feature }) => [text, names[feature]]);
  return [...asked, isClassifier ? labels[largest(atOrigin(r))] : ""].join("\n").toLowerCase();
});

function arrange() {
  const wanted = byId("filter").value.trim().toLowerCase(), order = byId("order").value;
  const keys = {
    number: (r) => r,
    support: (r) => -(summary && summary.support ? summary.support[r] : 0),
    length: (r) => data.sentences[r].conditions.length,
    firing: (r) => -now.firing[r],
  };
  const rules = cards.map((_, r) => r).sort((a, b) => keys[order](a) - keys[order](b) || a - b);
  const kept = rules.filter((r) => findable[r].includes(wanted));
  const first = kept.length > SHOWN + 1 ? SHOWN : kept.length, rest = byId("more-rules");
  byId("rules").replaceChildren(...kept.slice(0, first).map((r) => cards[r]));
  rest.hidden = first === kept.length;
  rest.querySelector("summary").textContent = several(kept.length - first, "more rule");
  rest.querySelector("div").replaceChildren(...kept.slice(first).map((r) => cards[r]));
  byId("shown").textContent = wanted ? `${kept.length} of ${several(cards.length, "rule")}` : "";
}

/* What if. */

let now = null, later = null;
const atFirst = data.typical.map((value, j) => data.unknown.includes(j) ? null : value);
const x = [...atFirst];
const rowOf = (...parts) => make("div", { class: "feature" }, ...parts);
const controls = columns.map((column, j) => column.levels ? listOf(column, j) : sliderOf(column, j));

/* A category: its levels, and "unknown". */
function listOf({ name, levels }, j) {
  const options = levels.map((level, k) => make("option", { value: k }, level));
  const list = make("select", { id: `feature-${j}` }, ...options, make("option", { value: "" }, "unknown"));
  const asked = make("small", { class: "asked hint" });
  list.addEventListener("change", () => set(j, list.value === "" ? null : Number(list.value)));
  return {
    row: rowOf(make("label", { for: `feature-${j}` }, soft(name)), list, asked),
    show: (value) => { list.value = value === null ? "" : value; },
    shade: (condition, said) => { asked.title = said; asked.textContent = said.replace(`: ${name} `, ": "); },
  };
}

/* A number: a slider on which it is shaded what a rule asks for, a box, and "unknown" where cells were missing. */
function sliderOf({ name, range: [low, high], two, isDate, mayLack }, j) {
  const step = two ? high - low : isDate ? 1 : "any";
  const slider = make("input", { type: "range", min: isDate ? Math.floor(low) : low, max: isDate ? Math.ceil(high) : high, step, "aria-label": name, "aria-describedby": `asked-${j}` });
  const box = make("input", { type: isDate ? "date" : "number", id: `feature-${j}`, ...(isDate ? {} : { step: "any" }) });
  const wrong = make("small", { class: "wrong", role: "status", id: `wrong-${j}` });
  box.setAttribute("aria-describedby", wrong.id);
  const band = make("span", { class: "band" }), asked = make("span", { class: "unseen", id: `asked-${j}` });
  const lacks = make("input", { type: "checkbox", "aria-label": `${name} is unknown` });
  const typed = () => isDate ? box.valueAsNumber / 864e5 : box.valueAsNumber;
  slider.addEventListener("input", () => set(j, slider.valueAsNumber));
  box.addEventListener("input", () => {
    const usable = Number.isFinite(((typed() - model.columns[j].mean) / model.columns[j].scale) ** 2);
    box.setAttribute("aria-invalid", !usable);
    wrong.textContent = usable ? "" : `${box.value === "" ? `No ${isDate ? "date" : "number"}` : "Too large"}: ${told(j, x[j])} still counts`;
    if (usable) set(j, typed(), box);
  });
  lacks.addEventListener("change", () => set(j, lacks.checked ? null : slider.valueAsNumber));
  const called = make("div", {}, make("label", { for: `feature-${j}` }, soft(name)));
  if (mayLack) called.append(make("label", { class: "unknown hint" }, lacks, " unknown"));
  return {
    row: rowOf(called, make("div", { class: "slide" }, band, slider, asked), box, wrong),
    show(value, source) {
      slider.disabled = box.disabled = lacks.checked = value === null;
      if (source !== box) wrong.textContent = "";
      if (value === null) box.value = "";
      if (value === null) return;
      slider.value = value;
      slider.setAttribute("aria-valuetext", told(j, value));
      if (source === box) return;
      box.value = isDate ? day(value) : Number(number(value, model.columns[j].scale / 10));
      box.setAttribute("aria-invalid", false);
    },
    shade(condition, said) {
      const [from, to] = condition && condition.excludes ? [condition.low ?? low, condition.high ?? high].map((end) => Math.min(Math.max((end - low) / (high - low), 0), 1)) : [0, 0];
      band.style.left = `calc(.5rem + (100% - 1rem) * ${from})`;
      band.style.width = `calc((100% - 1rem) * ${to - from})`;
      band.title = asked.textContent = said;
    },
  };
}

function set(j, value, source) {
  x[j] = value;
  controls[j].show(value, source);
  refresh();
}

function start() {
  const chosen = Number(byId("start").value);
  (chosen < 0 ? atFirst : data.examples[chosen].values).forEach((value, j) => { x[j] = value; controls[j].show(value); });
  refresh();
}

/* On the controls, what one rule asks for: the one that counts most, or the one that was chosen. */
function shade() {
  const chosen = Number(byId("shaded").value), r = chosen < 0 ? largest(now.firing) : chosen;
  controls.forEach((control, j) => {
    const condition = data.sentences[r].conditions.find(({ feature }) => feature === j);
    control.shade(condition, condition ? `Rule ${r + 1}: ${condition.text}` : "");
  });
}

function refresh() {
  now = predict(x);
  const answer = isClassifier ? labels[now.answer] : `${labels[0]} = ${amount(now.outputs[0])}`;
  byId("verdict").replaceChildren(make("h3", {}, answer), ...(isClassifier ? bars(now.probabilities, 3) : []), ...(data.held ? [make("p", { class: "hint" }, data.held)] : []));
  byId("why").replaceChildren(why());
  shade();
  cards.forEach((element, r) => {
    element.querySelectorAll(".counts").forEach((place) => place.replaceChildren(bar("counts now", now.firing[r], percent(now.firing[r]), "now")));
    element.querySelectorAll(".grade").forEach((place) => {
      const condition = data.sentences[r].conditions[place.dataset.place];
      place.textContent = "fits " + percent(grade(r, condition, x[condition.feature]));
    });
    element.querySelectorAll(".at").forEach(place);
  });
  if (byId("order").value === "firing") arrange();
  clearTimeout(later);
  later = setTimeout(() => byId("changes").replaceChildren(...whatWouldChange()), 150);
}

/* Why: what each rule that counts adds, the likeliest classes first, and for linear rules which terms add it. */
function why() {
  const order = labels.map((_, c) => c).sort((a, b) => now.probabilities[b] - now.probabilities[a] || a - b);
  const classes = order.slice(0, labels.length > 3 ? 2 : 3);
  const line = (name, values, kind = "") => make("tr", { class: kind }, make("th", { scope: "row" }, ...name),
    ...classes.map((c) => make("td", {}, added(values, c))));
  const heads = classes.map((c) => make("th", { scope: "col" }, isClassifier ? keys[c] : "adds"));
  const table = make("table", {}, make("caption", {}, data.unit, ...(isClassifier ? legend(classes) : [])), make("tr", {}, make("th", {}, "rules, and how much they count"), ...heads));
  const rules = now.firing.map((_, r) => r).sort((a, b) => now.firing[b] - now.firing[a] || a - b);
  const heard = rules.filter((r) => now.firing[r] >= 0.01).slice(0, HEARD), silent = rules.slice(heard.length);
  for (const r of heard) {
    table.append(line([make("a", { href: `#rule-${r + 1}` }, `Rule ${r + 1}`), ` ${percent(now.firing[r])}`], now.contributions[r], "heard"));
    if (isLinear && now.firing[r] >= 0.1) table.append(...termsNow(r, heard.length > 1 ? 3 : 6).map(([name, values]) => line([name], values, "term")));
  }
  const total = (chosen) => labels.map((_, c) => sum(chosen.map((r) => now.contributions[r][c])));
  if (silent.length) table.append(line([several(silent.length, "more rule")], total(silent)));
  if (rules.length > 1) table.append(line(["Together"], now.outputs, "total"));
  return table;
}

function termsNow(r, most) {
  const heard = (values) => values.map((value) => now.firing[r] * value);
  const all = (rows) => rows.reduce(plus, labels.map(() => 0));
  const minus = (a, b) => a.map((value, c) => value - b[c]);
  const usual = names.map((_, j) => term(r, j, null)).reduce(plus, rules[r].says);
  const parts = moving(r).map((j) => [`${soft(names[j])} ${columns[j].levels || x[j] === null ? "is" : "="} ${told(j, x[j])}`, heard(minus(term(r, j, x[j]), term(r, j, null)))]);
  const weight = ([, values]) => isClassifier ? Math.max(...values) - Math.min(...values) : Math.abs(values[0]);
  parts.sort((a, b) => weight(b) - weight(a));
  const rest = parts.slice(most).map(([, values]) => values);
  return [["average values", heard(usual)], ...parts.slice(0, most), ...(rest.length ? [[several(rest.length, "more term"), all(rest)]] : [])];
}

function whatWouldChange() {
  const few = grouped(changes(x)).slice(0, isNarrow ? 2 : 3), step = summary ? "by a standard deviation or to another value" : "by about the width of its conditions";
  const title = isClassifier ? "What would change the answer" : `One column changed, ${step}`;
  if (!few.length && isClassifier) return [make("p", { class: "hint" }, "No feature moved alone within the data would change the answer.")];
  return few.length ? [make("h4", {}, title), make("ul", {}, ...few.map((group) => make("li", {}, inWords(group))))] : [];
}

/* Changes that are said in one breath: to levels of a column with the same answer; of numbers to predict the farthest. */
function grouped(found) {
  const groups = new Map();
  found.forEach((change, k) => {
    const key = columns[change.feature].levels ? `${change.feature} ${isClassifier ? change.answer : ""}` : k;
    groups.set(key, [...(groups.get(key) || []), change]);
  });
  return [...groups.values()].map((group) => isClassifier ? group : group.slice(0, 1));
}

function inWords(group) {
  const [{ feature: j, value, answer }] = group, is = x[j], says = isClassifier ? labels[answer] : amount(answer);
  return `${names[j]} ${movedTo(j, value, is, group)} instead of ${columns[j].two && is !== null ? brief(is, 6) : told(j, is, apart(j, value, is))}: ${says}`;
}

const apart = (j, value, is) => columns[j].levels ? undefined : Math.min(model.columns[j].scale, is === null ? 1 : Math.abs(value - is) || 1) / 2;

function movedTo(j, value, is, group) {
  if (columns[j].levels) return `is ${listed(group.map((change) => columns[j].levels[change.value]))}`;
  if (columns[j].two) return `is ${brief(value, 6)}`;
  const becomes = told(j, value, apart(j, value, is)), [more, less] = columns[j].isDate ? ["since", "until"] : ["at least", "at most"];
  return `${!isClassifier ? "=" : value > begin(x, j) ? more : less} ${becomes}`;
}

/* As one says them: red, blue or green. */
function listed(levels) {
  const said = levels.length > 4 ? [...levels.slice(0, 3), `one of ${levels.length - 3} others`] : levels;
  return said.length === 1 ? said[0] : `${said.slice(0, -1).join(", ")} or ${said[said.length - 1]}`;
}

/* Where the row is now in a picture, if that is known. */
function place(mark) {
  const j = Number(mark.dataset.feature), { levels, shown } = columns[j];
  const along = levels ? (slots(j).indexOf(x[j]) + 0.5) / slots(j).length : x[j] === null ? -1 : Math.max((x[j] - shown[0]) / (shown[1] - shown[0]), 0);
  const at = Math.min(Math.max(WIDTH * along, 1), WIDTH - 1);
  mark.style.visibility = along < 0 ? "hidden" : "visible";
  mark.setAttribute("x1", at);
  mark.setAttribute("x2", at);
}

/* Columns that matter most come first. */

function lay() {
  const weight = (j) => columns[j].weight;
  const used = names.map((_, j) => j).filter((j) => weight(j) > 0).sort((a, b) => weight(b) - weight(a));
  const rows = used.map((j) => controls[j].row);
  const first = rows.length > INPUTS + 1 ? INPUTS : rows.length, rest = rows.slice(first);
  byId("inputs").append(...rows.slice(0, first));
  if (rest.length) {
    byId("more-inputs").hidden = false;
    byId("more-inputs").querySelector("summary").textContent = several(rest.length, "more column");
    byId("more-inputs").querySelector("div").append(...rest);
  }
  byId("start").append(make("option", { value: -1 }, "typical values"), ...data.examples.map((example, k) => make("option", { value: k }, example.name)));
  byId("shaded").append(make("option", { value: -1 }, "the rule that counts most"), ...rules.map((_, r) => make("option", { value: r }, `rule ${r + 1}`)));
  byId("shaded").addEventListener("change", shade);
  byId("shaded").parentElement.hidden = cards.length === 1;
  if (isNarrow && rest.length) byId("more-inputs").append(byId("shading"));
  byId("start").addEventListener("change", start);
  byId("reset").addEventListener("click", start);
  byId("filter").addEventListener("input", arrange);
  byId("order").addEventListener("change", arrange);
  byId("controls").hidden = cards.length === 1;
  if (cards.length > SHOWN + 1 && summary && summary.support) byId("order").value = "support";  // what is folded is what speaks for little
}

/* How well it does: what evaluate() measured, and what is found at any threshold. */

const FOUND = ["sensitivity", "specificity", "positive predictive value", "negative predictive value"];

/* Those shares where the probability reaches k hundredths; null where there is nothing to be a share of. */
function foundAt({ hits, alarms }, k) {
  const missed = hits[0] - hits[k], passed = alarms[0] - alarms[k];
  const parts = [[hits[k], hits[0]], [passed, alarms[0]], [hits[k], hits[k] + alarms[k]], [passed, passed + missed]];
  return parts.map(([part, whole]) => whole > 0 ? part / whole : null);
}

const models = () => make("tr", {}, make("td", {}), ...data.evaluations.map(({ name }, k) => make("th", { scope: "col", class: `model-${k}` }, name)));

/* A measure, model by model: the figure, and below it its interval. */
function line(name, figures) {
  const cells = data.evaluations.map(figures).map(([value, low, high]) => value === null ? ["–"] :
    [brief(value, 4), ...(low === null ? [] : [make("small", {}, `${brief(low, 3)} to ${brief(high, 3)}`)])]);
  return make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", {}, ...cell)));
}

function curves(own) {
  const judged = data.evaluations.filter(({ calibration }) => calibration);
  if (!judged.length) return;
  byId("judged").hidden = false;
  byId("judged").querySelector("summary").textContent = `What ${own.cuts ? "is found at any threshold, and what " : ""}was said beside what happened`;
  if (own.cuts) {
    const what = String(own.positive);
    byId("looked-for").textContent = what;
    byId("cuts").hidden = false;
    byId("cut").value = Math.round(100 * (own.threshold ?? 0.5));
    byId("cut").addEventListener("input", cut);
    cut();
    byId("curves").append(chart("What is found", `up: ${what} found; across: others called ${what}; one point for each threshold`, [0, 1],
      data.evaluations.map(({ cuts }) => cuts && { across: cuts.roc[0], up: cuts.roc[1] })));
  }
  const values = judged.flatMap(({ calibration: { said, found, low, high } }) => [...said, ...found, ...low, ...high]).filter((value) => value !== null);
  const about = own.positive === null ? "the answer" : String(own.positive);
  byId("curves").append(chart("What was said and what happened",
    isClassifier ? `up: how often it was so; across: probability of ${about}; in tenths of the rows` : "up: true, on average; across: answered; in tenths of the rows",
    isClassifier ? [0, 1] : [Math.min(...values), Math.max(...values)],
    data.evaluations.map(({ calibration }) => calibration && { across: calibration.said, up: calibration.found, low: calibration.low, high: calibration.high })));
}

/* What is found at the threshold that was chosen. */
function cut() {
  const k = Number(byId("cut").value), [{ name, cuts: { hits, alarms } }] = data.evaluations, what = byId("looked-for").textContent;
  byId("cut-now").textContent = (k / 100).toFixed(2);
  byId("at-cut").replaceChildren(models(), ...FOUND.map((share, m) => line(share, ({ cuts }) =>
    cuts ? [foundAt(cuts, k)[m], cuts.low[share]?.[k] ?? null, cuts.high[share]?.[k] ?? null] : [null, null, null])));
  byId("found").textContent = `Of ${brief(hits[0], 6)} rows that are ${what} ${name} would find ${brief(hits[k], 6)}, and call ${brief(alarms[k], 6)} of ${brief(alarms[0], 6)} others so.`;
}

/* Curves of models in a square, with the diagonal where across and up are alike. */
function chart(title, axes, [low, high], drawn) {
  const place = (value) => 100 * (value - low) / (high - low || 1), at = (a, b) => `${place(a)} ${100 - place(b)}`;
  const known = ({ across, up }) => across.map((value, k) => [value, up[k], k]).filter(([a, b]) => a !== null && b !== null);
  const paths = drawn.flatMap((one, k) => !one ? [] : [
    ...(one.low?.length ? [make("path", { class: `ends model-${k}`, d: known(one).map(([a, , j]) => `M${at(a, one.low[j])}V${100 - place(one.high[j])}`).join("") })] : []),
    make("path", { class: `curve model-${k}`, d: known(one).map(([a, b], j) => (j ? "L" : "M") + at(a, b)).join("") }),
    ...(one.low ? [make("path", { class: `points model-${k}`, d: known(one).map(([a, b]) => `M${at(a, b)}h0`).join("") })] : [])]);
  const marks = [low, (low + high) / 2, high].flatMap((value) => [
    make("text", { x: place(value), y: 107, "text-anchor": "middle" }, brief(value, 3)),
    make("text", { x: -2, y: 101.5 - place(value), "text-anchor": "end" }, brief(value, 3))]);
  return make("figure", {}, make("figcaption", {}, title),
    make("svg", { viewBox: "-16 -4 124 114", role: "img", "aria-label": `${title}: ${axes}` },
      make("path", { class: "axes", d: "M0 0V100H100M0 100L100 0" }), ...paths, ...marks), make("p", { class: "hint" }, axes));
}

function evaluation() {
  if (!data.evaluations.length) return;
  byId("evaluation").hidden = false;
  const [own] = data.evaluations, measures = [...new Set(data.evaluations.flatMap((one) => Object.keys(one.measures)))];
  const ends = own.resamples ? `; below each figure its 95 % interval, from ${own.resamples} resamples` : "";
  const lines = measures.map((name) => line(name, (one) => [one.measures[name] ?? null, ...(one.intervals[name] || [null, null])]));
  byId("measures").append(make("caption", {}, `On ${several(own.n_rows, "row")} held out${ends}`), models(), ...lines.slice(0, MEASURES));
  byId("more-measures").parentElement.hidden = lines.length <= MEASURES;
  byId("more-measures").append(models(), ...lines.slice(MEASURES));
  byId("faithful").textContent = data.faithful;
  byId("meant").textContent = data.meant;
  curves(own);
  byId("caution").textContent = data.verdict;
  byId("caution").hidden = !data.verdict;
  const confusion = data.evaluations[0].confusion;
  const down = (c) => keys[c] === labels[c] ? labels[c] : `${keys[c]}: ${labels[c]}`;
  if (confusion) byId("confusion").append(make("caption", {}, "What rows are (down) and what the rules say (across)"),
    make("tr", {}, make("th", {}, make("span", { class: "unseen" }, "what rows are")), ...keys.map((key) => make("th", { scope: "col" }, key))),
    ...confusion.map((row, k) => make("tr", {}, make("th", { scope: "row" }, down(k)), ...row.map((count) => make("td", {}, brief(count, 5))))));
}

/* The whole model: which columns matter, what the answer is over each, and how rules share the rows. */

const whole = data.whole;

/* Bars of which the first few are seen, and the rest once it is asked for. */
function fewBars(place, bars, few, noun) {
  place.hidden = !bars.length;
  const first = bars.length > few + 1 ? few : bars.length, rest = place.querySelector("details");
  place.querySelector(".bars").append(...bars.slice(0, first));
  rest.hidden = first === bars.length;
  rest.querySelector("summary").textContent = several(bars.length - first, `more ${noun}`);
  rest.querySelector("div").append(...bars.slice(first));
}

function matters() {
  const most = Math.max(...whole.importances.map(([, share]) => share));
  fewBars(byId("matters"), whole.importances.map(([j, share]) => bar(soft(names[j]), share / most, percent(share))), MATTER, "column");
}

/* The colour of an output, the same in every picture: of many classes those without a line share one. */
const hue = (c) => labels.length < 3 ? 0 : whole.lines.includes(c) ? whole.lines.indexOf(c) : "others";

/* Bars to the left and to the right of zero, for each output one. */
function coefficientBars() {
  const { outputs, rows, said } = whole.coefficients || { outputs: [], rows: [] }, most = size([1e-300, ...rows.flatMap(({ adds }) => adds)]);
  if (!rows.length) return;
  byId("coefficients").querySelector("p").textContent = said;
  const signed = (value) => isClassifier ? (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2) : (value < 0 ? "−" : "+") + amount(Math.abs(value));
  const track = (value, k) => {
    const fill = make("i", { class: `fill-${hue(k)}` });
    fill.style.width = 50 * Math.abs(value) / most + "%";
    fill.style.marginLeft = 50 * (1 + Math.min(value, 0) / most) + "%";
    return make("span", { class: "track two-sided" }, fill);
  };
  fewBars(byId("coefficients"), rows.map(({ change, each, adds }) => {
    const several = adds.length > 1, element = make("div", { class: "bar coefficient" }, make("span", {}, soft(change)),
      make("span", {}, ...adds.map(track)), make("span", {}, ...adds.map((value, k) => make("small", several ? { class: "swatch" } : {}, ...(several ? [make("i", { class: `fill-${hue(k)}` })] : []), signed(value)))));
    element.title = `${change}: ${adds.map((value, k) => `${several ? `${outputs[k]} ` : ""}${signed(value)}${each === null ? "" : `, ${brief(value * each, 3)} for each 1`}`).join("; ")}`;
    return element;
  }), 8, "coefficient");
  if (outputs.length > 1) byId("coefficients").querySelector("p").append(swatches(outputs.map((name, k) => [`fill-${hue(k)}`, name])));
}

const swatches = (pairs) => make("span", { class: "swatches" }, ...pairs.map(([kind, name]) => make("span", { class: "swatch" }, make("i", { class: kind }), name)));

/* The answer over a column, and below it the shares of rules. */
const ACROSS = 300, UP = isNarrow ? 100 : 120, BELOW = rules.length > 1 ? 34 : -6, LEFT = 38, GAP = 26, LEVELS = 24, NAME = 14;
const areaOf = (r, k) => `area-${rules.length > 8 ? k : r}`;  // of many rules no two in one picture look alike

/* Levels that most rows have, in their order; of what is left out it says how much. */
function commonest(one) {
  const { feature: j, cells } = one, rest = cells.length - LEVELS;
  if (!columns[j].levels || rest < 1) return one;
  const share = (cell) => cell === null || !summary ? 0 : summary.levels[j][cell];
  const kept = cells.map((_, k) => k).sort((a, b) => share(cells[b]) - share(cells[a]) || a - b).slice(0, LEVELS).sort((a, b) => a - b);
  const pick = (values) => kept.map((k) => values[k]), all = (lines) => lines && lines.map(pick);
  return { ...one, cells: pick(cells), answers: all(one.answers), accumulated: all(one.accumulated), shares: all(one.shares), kind: `${one.kind}; ${several(rest, "rarer level")} not drawn` };
}

function effect(whatever, isNamed = true) {
  const one = commonest(whatever), { feature: j, cells, answers, accumulated, rules: shown, shares, said, kind } = one, { levels } = columns[j], isTurned = levels && turned(j, cells);
  const numbers = cells.filter((cell) => cell !== null), low = levels ? 0 : numbers[0], high = levels ? cells.length : numbers[numbers.length - 1];
  const wide = !levels && cells.length > numbers.length ? ACROSS - GAP : ACROSS;
  const along = (cell, k) => LEFT + (levels ? (k + 0.5) * ACROSS / cells.length : cell === null ? ACROSS - GAP / 2 : wide * (cell - low) / (high - low));
  const all = [...answers, ...(accumulated || [])].flat(), [from, to] = isClassifier ? [Math.min(0, ...all), Math.max(1, ...all)] : ends(all);
  const up = (value) => 6 + UP * (1 - (value - from) / (to - from || 1));
  const others = cells.map((_, k) => Math.max(1 - sum(shares.map((share) => share[k])), 0));
  const parts = [...shown.map((r, k) => [areaOf(r, k), shares[k]]), ["area-others", others]];
  const svg = make("svg", { viewBox: `0 0 ${LEFT + ACROSS + 4} ${UP + BELOW + 36 + (isTurned ? 5.4 * longest(j, cells) : 0)}`, role: "img", "aria-label": `${said}. ${kind}.` },
    make("path", { class: "axes", d: `M${LEFT} 6V${6 + UP}H${LEFT + ACROSS}` }),
    ...ticks(from, to).map((value) => make("text", { x: LEFT - 4, y: up(value) + 3.5, "text-anchor": "end" }, onAxis(value, from, to))),
    ...answers.flatMap((values, line) => drawn(cells, values, line, `line line-${line}`, levels, along, up, from, answers.length)),
    ...(accumulated || []).flatMap((values, line) => drawn(cells, values, line, `line alone line-${line}`, levels, along, up, from, answers.length)),
    ...(rules.length > 1 ? areas(cells, parts, levels, along) : []), ...places(j, cells, along, isTurned));
  const named = answers.length > 1 || isClassifier ? whole.lines.map((c, k) => [`line-${k} key-line`, labels[c]]) : [];
  const alone = accumulated ? [["alone key-line", "by itself (accumulated local effects)"]] : [];
  const areasNamed = rules.length > 1 ? [...shown.map((r, k) => [areaOf(r, k), `rule ${r + 1}`]), ...(others.some((share) => share > 0.001) ? [["area-others", "others"]] : [])] : [];
  return make("figure", {}, make("figcaption", {}, ...(isNamed ? [make("b", {}, soft(names[j])), " – "] : []), kind), svg, swatches([...named, ...alone, ...areasNamed]));
}

const ends = (values) => { const low = Math.min(...values), high = Math.max(...values), room = (high - low || 1) * 0.04; return [low - room, high + room]; };

/* Round numbers between two, two to five of them. */
function ticks(from, to) {
  const least = (to - from) / 4, power = 10 ** Math.floor(Math.log10(least)), step = power * [1, 2, 2.5, 5, 10].find((one) => one * power >= least * (1 - 1e-9));
  if (isClassifier || !(step > 0)) return isClassifier ? [0, 0.5, 1] : [from];
  return Array.from({ length: 6 }, (_, k) => (Math.ceil(from / step) + k) * step).filter((value) => value <= to);
}

/* A number beside an axis, short but told from its neighbours: 12K, 1.5M. */
function onAxis(value, from, to) {
  const digits = Math.min(Math.max(3 + Math.ceil(Math.log10(size([from, to]) / (to - from) || 1)), 4), 15), far = Math.abs(value);
  const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: digits });
  return far >= 1e4 && far < 1e15 ? compact.format(value) : brief(value, digits);
}

/* A line over numbers and a dot for missing cells; for each level a bar from zero, or where zero is far a mark. */
function drawn(cells, values, line, kind, levels, along, up, from, n) {
  if (levels) {
    const wide = 0.8 * ACROSS / cells.length / n, base = up(Math.max(from, 0));
    const reach = (value) => isClassifier ? { y: Math.min(up(value), base), height: Math.max(Math.abs(base - up(value)), 0.5) } : { y: up(value) - 2, height: 4 };
    return values.map((value, k) => make("rect", { class: kind, x: along(null, k) + wide * (line - n / 2), width: wide * 0.94, ...reach(value) }));
  }
  const points = cells.flatMap((cell, k) => cell === null ? [] : [`${along(cell, k).toFixed(1)} ${up(values[k]).toFixed(1)}`]);
  const dots = cells.flatMap((cell, k) => cell === null ? [make("path", { class: `${kind} dot`, d: `M${along(cell, k) + 6 * (line - (n - 1) / 2)} ${up(values[k])}h0` })] : []);
  return [make("path", { class: kind, d: `M${points.join("L")}` }), ...dots];
}

/* Shares of rules one on the other. */
function areas(cells, parts, levels, along) {
  const top = UP + 12, below = cells.map(() => 0), known = cells.map((_, k) => k).filter((k) => !levels && cells[k] !== null);
  const block = (k) => levels ? 0.84 * ACROSS / cells.length : GAP - 8;
  return parts.flatMap(([kind, shares]) => {
    const start = [...below], at = (k, height) => `${along(cells[k], k).toFixed(1)} ${(top + BELOW * (1 - height)).toFixed(2)}`;
    shares.forEach((share, k) => { below[k] += share; });
    const rim = [...known.map((k) => at(k, below[k])), ...[...known].reverse().map((k) => at(k, start[k]))];
    const blocks = cells.flatMap((cell, k) => known.includes(k) ? [] : [make("rect", { class: kind, x: along(cell, k) - block(k) / 2, width: block(k), y: top + BELOW * (1 - below[k]), height: BELOW * shares[k] })]);
    return [...(known.length ? [make("path", { class: kind, d: `M${rim.join("L")}Z` })] : []), ...blocks];
  });
}

/* What stands below a picture: some numbers, or levels, and "unknown". */
function places(j, cells, along, isTurned) {
  const y = UP + BELOW + 26, level = (cell, k) => {
    const across = along(cell, k), set = isTurned ? { x: across + 3, y: y - 6, "text-anchor": "end", transform: `rotate(-60 ${across + 3} ${y - 6})` } : { x: across, y, "text-anchor": "middle" };
    return make("text", set, shortly(told(j, cell), NAME), make("title", {}, told(j, cell)));
  };
  if (columns[j].levels) return cells.map(level);
  const numbers = cells.filter((cell) => cell !== null), low = numbers[0], high = numbers[numbers.length - 1];
  const lacks = cells.length > numbers.length, marks = [low, (low + high) / 2, ...(lacks ? [] : [high])];
  return [...marks.map((value, k) => make("text", { x: along(value), y, "text-anchor": k ? k > 1 ? "end" : "middle" : "start" }, told(j, value, (high - low) / 10))),
    ...(lacks ? [make("text", { x: LEFT + ACROSS, y, "text-anchor": "end" }, "unknown")] : [])];
}

/* Names of levels: how long the longest is as it is shown, and whether they stand slanted for want of room. */
const longest = (j, cells) => Math.min(Math.max(...cells.map((cell) => told(j, cell).length)), NAME);
const turned = (j, cells) => 6.2 * longest(j, cells) + 4 > ACROSS / cells.length;

const shortly = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;

function effects() {
  if (!whole.curves.length) return;
  byId("effects").hidden = false;
  const list = byId("effect"), show = () => byId("curve").replaceChildren(effect(whole.curves[Number(list.value)], false));
  list.append(...whole.curves.map(({ feature }, k) => make("option", { value: k }, names[feature])));
  list.addEventListener("change", show);
  show();
  const every = byId("all-effects");
  every.hidden = whole.curves.length < 2;
  every.querySelector("summary").textContent = `All ${whole.curves.length} curves`;
  fillings.set(every, () => { if (!every.querySelector("figure")) every.querySelector("div").append(...whole.curves.map((one) => effect(one))); });
  every.addEventListener("toggle", fillings.get(every));
}

/* A map of rules: to the left the rows each governs, then how much others count where it does. */
function map() {
  const { overlaps, governed } = whole;
  if (!overlaps) return;
  byId("map").hidden = false;
  const n = overlaps.length, cell = Math.min(300 / (n + 6), 34), left = 34 + 5 * cell, order = governed.map((_, r) => r).sort((a, b) => governed[b] - governed[a] || a - b);
  const most = Math.max(...governed, 1e-300), text = Math.min(cell * 0.62, 10), svg = make("svg", { viewBox: `0 0 ${left + n * cell + 2} ${n * cell + 16}`, role: "img", "aria-label": mapSaid(overlaps, governed, order) });
  svg.style.maxWidth = `${1.2 * (left + n * cell + 2)}px`;
  svg.append(...order.flatMap((r, row) => [
    make("text", { x: 28, y: 14 + (row + 0.5) * cell + text / 3, "text-anchor": "end", "font-size": text }, `${r + 1}`),
    make("rect", { class: "governed", x: 32, y: 14 + (row + 0.15) * cell, width: 4.6 * cell * governed[r] / most, height: cell * 0.7 }, make("title", {}, `Rule ${r + 1} counts most for ${percent(governed[r])} of the rows`)),
    make("text", { x: left + (row + 0.5) * cell, y: 10, "text-anchor": "middle", "font-size": text }, `${r + 1}`),
    ...order.map((q, column) => {
      const square = make("rect", { class: "overlap", x: left + column * cell, y: 14 + row * cell, width: cell * 0.94, height: cell * 0.94 }, make("title", {}, `Where rule ${r + 1} counts, rule ${q + 1} counts ${percent(overlaps[r][q])}`));
      square.style.fillOpacity = overlaps[r][q];
      return square;
    })]));
  byId("map").querySelector("div").append(svg);
  byId("map").querySelector("p").textContent = mapSaid(overlaps, governed, order);
}

function mapSaid(overlaps, governed, order) {
  const pairs = overlaps.flatMap((row, r) => row.map((share, q) => [share, r, q])).filter(([, r, q]) => r !== q).sort((a, b) => b[0] - a[0]);
  const [[share, r, q]] = pairs;
  return `Bars are the rows that each rule counts most for: ${percent(governed[order[0]])} for rule ${order[0] + 1}. Squares say how much rules (across) count where one (down) does: most, rule ${q + 1} ${percent(share)} where rule ${r + 1} does.`;
}

function atAGlance() {
  byId("whole").hidden = false;
  matters();
  coefficientBars();
  effects();
  map();
  byId("whole").hidden = ["matters", "coefficients", "effects", "map"].every((id) => byId(id).hidden);
}

/* What is wider than its place scrolls, also by keyboard. */
function reachable() {
  document.querySelectorAll(".wide").forEach((place) => {
    if (place.scrollWidth > place.clientWidth) place.setAttribute("tabindex", 0);
    else place.removeAttribute("tabindex");
  });
}

/* On paper everything is unfolded, and afterwards as it was. */
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  unfolded.forEach((one) => { one.open = true; });
  fillings.forEach((fill) => fill());
});
addEventListener("afterprint", () => { unfolded.forEach((one) => { one.open = false; }); });

/* A link to a rule unfolds it. */
document.addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest('a[href^="#rule-"]'), card = link && byId(link.hash.slice(1));
  if (card && card.closest("details")) card.closest("details").open = true;
});

byId("about").textContent = data.about;
lay();
evaluation();
atAGlance();
start();
arrange();
reachable();
addEventListener("resize", reachable);
document.addEventListener("toggle", reachable, true);
window.sessc = { predict, changes, number, foundAt, whole };
