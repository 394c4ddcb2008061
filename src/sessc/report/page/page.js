"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const model = data.model, summary = model.summary, names = model.features.map((f) => f.name);
const labels = data.labels, isClassifier = model.classes !== null, isLinear = model.rules[0].outputs.length > 1;
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

const standard = (value, d) => (value - model.features[d].mean) / model.features[d].scale;
const misfit = (rule, z, d) => rule.widths[d] === null ? 0 : 0.5 * ((z - rule.centers[d]) / rule.widths[d]) ** 2;
const grade = (r, d) => Math.exp(-misfit(model.rules[r], standard(x[d], d), d));

/* What each rule makes of a row by itself: the logarithm of how strongly it fires, and what it says. */
function heardAlone(x) {
  const z = x.map(standard), inputs = [1, ...z];
  return model.rules.map((rule) => ({
    level: -sum(z.map((value, d) => misfit(rule, value, d))),
    says: labels.map((_, c) => sum(rule.outputs.map((slope, k) => slope[c] * inputs[k]))),
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
const choiceOf = names.map((_, d) => data.choices.find((choice) => choice.features.includes(d)));
const twoValues = names.map((_, d) => {
  const values = summary ? [...new Set(summary.quantiles.map((row) => row[d]))] : [];
  return values.length === 1 || values.length === 2 ? values : null;
});

function changes(x) {
  const alone = heardAlone(x), now = answerOf(alone), found = [];
  const at = (...moves) => answerOf(moved(x, alone, moves));
  const add = (feature, value, answer, choice) => answer !== now && found.push({ feature, value, answer, choice });
  for (const choice of data.choices) {
    for (const [, code] of choice.options) {
      const moves = choice.features.map((d, k) => [d, code[k]]), other = moves.filter(([d, value]) => x[d] !== value);
      if (other.length) add(...(other.find(([, value]) => value === 1) || other[0]), at(...moves), choice);
    }
  }
  names.forEach((_, d) => {
    const { scale } = model.features[d];
    if (choiceOf[d]) return;
    if (twoValues[d]) twoValues[d].filter((value) => value !== x[d]).forEach((value) => add(d, value, at([d, value])));
    else if (isClassifier) range(d).forEach((end) => add(d, ...nearest(x[d], end, (value) => at([d, value]), now)));
    else [x[d] - scale, x[d] + scale].forEach((value) => add(d, value, at([d, value])));
  });
  const rank = ({ feature, value, answer }) =>
    isClassifier ? Math.abs(value - x[feature]) / model.features[feature].scale : -Math.abs(answer - now);
  return found.sort((a, b) => rank(a) - rank(b));
}

/* The answer and nothing else, as thousands are needed. */
function answerOf(alone) {
  const firing = softmax(alone.map(({ level }) => level));
  const outputs = labels.map((_, c) => alone.reduce((total, { says }, r) => total + firing[r] * says[c], 0));
  return isClassifier ? largest(outputs) : outputs[0];
}

/* Rules with some features moved: only what changes is computed, so that many moves can be tried. */
function moved(x, alone, moves) {
  const steps = moves.map(([d, value]) => [d, standard(x[d], d), standard(value, d)]);
  return alone.map(({ level, says }, r) => {
    const rule = model.rules[r], more = (c) => sum(steps.map(([d, from, to]) => rule.outputs[d + 1][c] * (to - from)));
    return {
      level: level + sum(steps.map(([d, from, to]) => misfit(rule, from, d) - misfit(rule, to, d))),
      says: isLinear ? says.map((value, c) => value + more(c)) : says,
    };
  });
}

/* The value nearest to here, on the way to an end, that has another answer, and that answer. */
function nearest(here, end, at, now) {
  const steps = Array.from({ length: STEPS }, (_, k) => here + (end - here) * k / (STEPS - 1));
  const first = steps.findIndex((value) => at(value) !== now);
  if (first < 1) return [here, now];
  let near = steps[first - 1], far = steps[first];
  for (let k = 0; k < HALVINGS; k++) {
    const middle = (near + far) / 2;
    if (at(middle) === now) near = middle;
    else far = middle;
  }
  return [far, at(far)];
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

/* Numbers have the digits that text has: two of what tells them from their neighbours. */
function number(value, resolution) {
  if (!(resolution > 0 && Number.isFinite(resolution))) return brief(value, 4);
  const places = 1 - Math.floor(Math.log10(resolution)), unit = 10 ** -places;
  const rounded = (places > 0 ? Number(value.toFixed(Math.min(places, 100))) : Math.round(value / unit) * unit) + 0;
  const far = Math.abs(rounded);
  if ((far >= 1e-4 && far < 1e15) || (far === 0 && places < 5)) return rounded.toFixed(Math.max(places, 0));
  const digits = far ? Math.floor(Math.log10(far)) + places : 0;
  return rounded.toExponential(Math.min(Math.max(digits, 0), 5)).replace(/e([+-])(\d)$/, "e$10$2");
}

const brief = (value, digits) => Number(value.toPrecision(digits)).toString();
const constants = model.rules.map((rule) => rule.outputs[0][0]);
const spread = Math.max(...constants) - Math.min(...constants) || Math.max(...model.rules.flatMap((rule) => rule.outputs.slice(1).map(size)), 0);
const amount = (value) => number(value, (spread || Math.abs(value) || 1) / 100);
const given = (d) => number(x[d], model.features[d].scale);
const percent = (share) => `${(100 * share).toFixed(0)}\u00a0%`;
const soft = (name) => name.replace(/[_/.]/g, "$&\u200b");  // where a long name may break
const several = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

function added(values, c) {
  if (!isClassifier) return amount(values[0]).replace(/^-/, "−");
  const value = values[c] - (model.link === "softmax" ? sum(values) / values.length : 0);  // what all classes get changes nothing
  const text = Math.abs(value) < 1e6 ? Math.abs(value).toFixed(2) : Math.abs(value).toExponential(2);
  return (value < 0 && Number(text) ? "−" : "+") + text;
}

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
  return [...few.map((c) => bar(labels[c], shares[c], shares[c].toFixed(digits), c === best ? "best" : "")),
    ...(rest ? [make("p", { class: "hint" }, `${rest} more classes`)] : [])];
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
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "membership of " + names[d] });
  if (summary) {
    const counts = summary.counts[d], most = Math.max(...counts), wide = WIDTH / counts.length;
    counts.forEach((count, k) => svg.append(make("rect", {
      class: "data", x: k * wide, width: wide * 0.9, y: HEIGHT * (1 - count / most), height: HEIGHT * count / most })));
  }
  const points = Array.from({ length: 53 }, (_, k) => {
    const value = low + (high - low) * k / 52, height = Math.exp(-misfit(model.rules[r], standard(value, d), d));
    return `${across(value).toFixed(1)},${(HEIGHT - 2 - (HEIGHT - 4) * height).toFixed(1)}`;
  });
  svg.append(make("path", { class: "bell", d: "M" + points.join("L") }), make("line", { class: "at", "data-feature": d, y1: 0, y2: HEIGHT }));
  return svg;
}

function card(sentence, r) {
  const head = make("h3", {}, `Rule ${r + 1}`, make("small", {}, sentence.share && `${sentence.share} of the data`));
  const element = make("article", { class: cardCount > 1 ? "rule" : "rule alone", id: `rule-${r + 1}`, "aria-label": `Rule ${r + 1}` }, head);
  if (cardCount > 1) element.append(make("div", { class: "counts" }));
  const list = make("ul");
  sentence.conditions.forEach(({ text, feature }, k) => list.append(make("li", {},
    make("span", {}, make("b", {}, k ? "AND " : "IF "), text),
    make("span", { class: "fit" }, picture(r, feature), make("small", { class: "grade", "data-feature": feature })))));
  if (!sentence.conditions.length && cardCount > 1) list.append(make("li", {}, make("span", {}, make("b", {}, "IF "), "anything")));
  element.append(list, make("b", { class: "then" }, list.children.length ? "THEN" : "ALWAYS"));
  if (sentence.shares) element.append(...bars(sentence.shares, 2));
  else element.append(...sentence.conclusion.map((text) => make("p", { class: "says" }, text)));
  if (isLinear && names.length > data.terms) element.append(allTerms(r));
  return element;
}

/* A linear conclusion in full, once somebody asks for it. */
function allTerms(r) {
  const element = make("details", {}, make("summary", {}, `All ${names.length} terms`));
  element.addEventListener("toggle", () => { if (element.children.length < 2) element.append(make("div", { class: "wide" }, terms(r))); });
  return element;
}

function terms(r) {
  const { outputs, centers } = model.rules[r];
  const odds = model.link === "softmax" && labels.length === 2;  // the other class's odds are the inverse
  const columns = outputs.map((row) => odds ? [row[1] - row[0]] : row), heads = odds ? [`log-odds of ${labels[1]}`] : labels;
  const order = names.map((_, d) => d).sort((a, b) => size(columns[b + 1]) - size(columns[a + 1]));
  const constant = heads.map((_, c) => brief(columns[0][c] + sum(centers.map((center, d) => center * columns[d + 1][c])), 4));
  const line = (name, cells) => make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", {}, cell)));
  return make("table", {}, make("tr", {}, make("th", {}, "factor of"), ...heads.map((head) => make("th", { scope: "col" }, head))), line("constant", constant),
    ...order.map((d) => {
      const { mean, scale } = model.features[d], center = mean + scale * centers[d];
      const from = number(Math.abs(center), scale * (model.rules[r].widths[d] ?? 1));
      return line(`${soft(names[d])} ${center >= 0 ? "−" : "+"} ${from}`, columns[d + 1].map((slope) => brief(slope / scale, 3)));
    }));
}

const cardCount = data.sentences.length;
const cards = data.sentences.map(card);

/* What a rule can be found by: the features it asks about, as they are shown, and the class it is mostly for. */
const findable = data.sentences.map(({ conditions }, r) => {
  const { outputs, centers } = model.rules[r];
  const says = outputs[0].map((value, c) => value + (isLinear ? sum(centers.map((center, d) => center * outputs[d + 1][c])) : 0));
  const asked = conditions.flatMap(({ text, feature }) => [text, choiceOf[feature] ? choiceOf[feature].name : names[feature]]);
  return [...asked, isClassifier ? labels[largest(says)] : ""].join("\n").toLowerCase();
});

function arrange() {
  const wanted = byId("filter").value.trim().toLowerCase(), order = byId("order").value;
  const keys = {
    number: (r) => r,
    support: (r) => -(summary && summary.support ? summary.support[r] : 0),
    length: (r) => model.rules[r].widths.filter((width) => width !== null).length,
    firing: (r) => -now.firing[r],
  };
  const rules = cards.map((_, r) => r).sort((a, b) => keys[order](a) - keys[order](b) || a - b);
  const kept = rules.filter((r) => findable[r].includes(wanted));
  byId("rules").replaceChildren(...kept.map((r) => cards[r]));
  byId("shown").textContent = `${kept.length} of ${several(cards.length, "rule")}`;
}

/* What if. */

let now = null, later = null;
const typical = data.typical, x = [...typical];
const controls = names.map((name, d) => {
  const [low, high] = range(d), step = twoValues[d] ? high - low : "any";
  const slider = make("input", { type: "range", min: low, max: high, step, "aria-label": name });
  const box = make("input", { type: "number", step: "any", id: `feature-${d}` });
  slider.addEventListener("input", () => set(d, slider.valueAsNumber));
  box.addEventListener("input", () => {
    const usable = Number.isFinite(standard(box.valueAsNumber, d) ** 2);
    box.setAttribute("aria-invalid", !usable);
    if (usable) set(d, box.valueAsNumber, box);
  });
  return { slider, box, row: make("div", { class: "feature" }, make("label", { for: `feature-${d}` }, name), slider, box) };
});

/* Features that stand for the values of one choice change together. */
data.choices.forEach((choice, k) => {
  choice.select = make("select", { id: `choice-${k}` }, ...choice.options.map(([value], o) => make("option", { value: o }, value)));
  choice.select.addEventListener("change", () => {
    const [, code] = choice.options[choice.select.value];
    choice.features.forEach((d, place) => { x[d] = code[place]; });
    refresh();
  });
  choice.row = make("div", { class: "feature" }, make("label", { for: `choice-${k}` }, choice.name), choice.select);
});

const optionOf = (choice) => choice.options.findIndex(([, code]) => code.every((value, k) => value === x[choice.features[k]]));
const valueOf = (choice) => (choice.options[optionOf(choice)] || [])[0];

function set(d, value, source) {
  const { slider, box } = controls[d];
  x[d] = value;
  slider.value = value;
  if (source !== box) {
    box.value = Number(number(value, model.features[d].scale / 10));
    box.setAttribute("aria-invalid", false);
  }
  if (source !== start) refresh();
}

function start() {
  const chosen = Number(byId("start").value);
  (chosen < 0 ? typical : data.examples[chosen].values).forEach((value, d) => set(d, value, start));
  data.choices.forEach((choice) => { choice.select.value = optionOf(choice); });
  refresh();
}

function refresh() {
  now = predict(x);
  const answer = isClassifier ? labels[now.answer] : `${labels[0]} = ${amount(now.outputs[0])}`;
  byId("verdict").replaceChildren(make("h3", {}, answer), ...(isClassifier ? bars(now.probabilities, 3) : []));
  byId("why").replaceChildren(why());
  cards.forEach((element, r) => {
    element.querySelectorAll(".counts").forEach((place) => place.replaceChildren(bar("counts now", now.firing[r], percent(now.firing[r]), "now")));
    element.querySelectorAll(".grade").forEach((place) => { place.textContent = "fits " + percent(grade(r, Number(place.dataset.feature))); });
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
  const heads = classes.map((c) => make("th", { scope: "col" }, isClassifier ? labels[c] : "adds"));
  const table = make("table", {}, make("caption", {}, data.unit), make("tr", {}, make("th", {}, "rules, and how much they count"), ...heads));
  const rules = now.firing.map((_, r) => r).sort((a, b) => now.firing[b] - now.firing[a] || a - b);
  const heard = rules.filter((r) => now.firing[r] >= 0.01), silent = rules.slice(heard.length);
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
  const part = (k) => model.rules[r].outputs[k].map((slope) => now.firing[r] * slope * (k ? standard(x[k - 1], k - 1) : 1));
  const all = (rows) => labels.map((_, c) => sum(rows.map((row) => row[c])));
  const parts = names.map((name, d) => [`${soft(name)} = ${given(d)}`, part(d + 1)]).filter((_, d) => !choiceOf[d]);
  for (const choice of data.choices) {
    const has = valueOf(choice);
    parts.push([has === undefined ? choice.name : `${choice.name} is ${has}`, all(choice.features.map((d) => part(d + 1)))]);
  }
  const weight = ([, values]) => isClassifier ? Math.max(...values) - Math.min(...values) : Math.abs(values[0]);
  parts.sort((a, b) => weight(b) - weight(a));
  const rest = parts.slice(most).map(([, values]) => values);
  return [["average values", part(0)], ...parts.slice(0, most), ...(rest.length ? [[several(rest.length, "more term"), all(rest)]] : [])];
}

function whatWouldChange() {
  const few = changes(x).slice(0, 3), step = summary ? "by a standard deviation or to another value" : "by about the width of its conditions";
  const title = isClassifier ? "What would change the answer" : `One feature changed, ${step}`;
  if (!few.length && isClassifier) return [make("p", { class: "hint" }, "No feature moved alone within the data would change the answer.")];
  return few.length ? [make("h4", {}, title), make("ul", {}, ...few.map((change) => make("li", {}, inWords(change))))] : [];
}

function inWords({ feature, value, answer, choice }) {
  const is = x[feature], name = names[feature], says = isClassifier ? labels[answer] : amount(answer);
  if (choice) {
    const was = valueOf(choice), code = choice.features.map((d) => d === feature ? value : 0);
    const [becomes] = choice.options.find(([, other]) => other.every((v, k) => v === code[k]));
    return `${choice.name} is ${becomes}${was === undefined ? "" : ` instead of ${was}`}: ${says}`;
  }
  if (twoValues[feature]) return `${name} is ${brief(value, 6)} instead of ${brief(is, 6)}: ${says}`;
  const digits = Math.min(model.features[feature].scale, Math.abs(value - is) || 1) / 2;
  const side = !isClassifier ? "=" : value > is ? "at least" : "at most";
  return `${name} ${side} ${number(value, digits)} instead of ${number(is, digits)}: ${says}`;
}

function place(mark) {
  const d = Number(mark.dataset.feature), [low, high] = shown(d);
  const at = Math.min(Math.max(WIDTH * (x[d] - low) / (high - low), 1), WIDTH - 1);
  mark.setAttribute("x1", at);
  mark.setAttribute("x2", at);
}

/* Features that matter most come first. */

function weight(d) {
  return sum(model.rules.map((rule) => (rule.widths[d] === null ? 0 : rule.widths[d] ** -2) + (isLinear ? size(rule.outputs[d + 1]) : 0)));
}

function lay() {
  const used = names.map((_, d) => d).filter((d) => weight(d) > 0).sort((a, b) => weight(b) - weight(a));
  const rows = [...new Set(used.map((d) => choiceOf[d] ? choiceOf[d].row : controls[d].row))];
  byId("inputs").append(...rows.slice(0, 12));
  const rest = rows.slice(12);
  if (rest.length) {
    byId("more-inputs").hidden = false;
    byId("more-inputs").querySelector("summary").textContent = several(rest.length, "more feature");
    byId("more-inputs").querySelector("div").append(...rest);
  }
  byId("start").append(make("option", { value: -1 }, "typical values"), ...data.examples.map((example, k) => make("option", { value: k }, example.name)));
  byId("start").addEventListener("change", start);
  byId("reset").addEventListener("click", start);
  byId("filter").addEventListener("input", arrange);
  byId("order").addEventListener("change", arrange);
  byId("controls").hidden = cards.length === 1;
}

function evaluation() {
  if (!data.evaluations.length) return;
  byId("evaluation").hidden = false;
  const measures = Object.keys(data.evaluations[0].measures);
  byId("measures").append(make("caption", {}, `On ${several(data.evaluations[0].n_rows, "row")} held out`),
    make("tr", {}, make("th", {}, ""), ...measures.map((name) => make("th", { scope: "col" }, name))),
    ...data.evaluations.map((one) => make("tr", {}, make("th", { scope: "row" }, one.name), ...measures.map((name) => make("td", {}, one.measures[name].toFixed(3))))));
  const confusion = data.evaluations[0].confusion;
  if (confusion) byId("confusion").append(make("caption", {}, "What rows are (down) and what the rules say (across)"),
    make("tr", {}, make("th", {}, ""), ...labels.map((label) => make("th", { scope: "col" }, label))),
    ...confusion.map((row, k) => make("tr", {}, make("th", { scope: "row" }, labels[k]), ...row.map((count) => make("td", {}, brief(count, 5))))));
}

byId("about").textContent = data.about;
lay();
evaluation();
start();
arrange();
window.sessc = { predict, changes, number };
