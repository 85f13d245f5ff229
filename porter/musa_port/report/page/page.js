"use strict";
(() => {
  const PLACES = 50; // rendered at a time, per rule
  const ROWS = 200; // rendered at a time, in the table of files
  const UNSUPPORTED_ROWS = 15;
  const WINDOW = 220; // characters shown of a long source line
  const PRINTED_PLACES = 200, PRINTED_ROWS = 2000;
  const SEVERITIES = ["error", "warning", "info"];
  const NOUNS = { error: "error", warning: "warning", info: "note" };
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const byId = (id) => document.getElementById(id);

  // ---- helpers ----------------------------------------------------------------------------------------------------

  /** An element. Text only ever enters the page as text nodes, so that nothing in a report can act as markup. */
  function make(tag, className, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children);
    return element;
  }

  // Control characters, and those that change the direction of text: shown as escapes, so that code reads as it is.
  const HIDDEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  const visible = (text) => text.replace(HIDDEN, (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"));

  const number = (value) => value.toLocaleString("en-US");
  const count = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
  const compareText = new Intl.Collator("en", { numeric: true }).compare;

  function size(bytes) {
    if (bytes < 1000) return `${bytes} B`;
    return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  }

  function later(action) {
    let timer;
    return () => { clearTimeout(timer); timer = setTimeout(action, 120); };
  }

  function moreButton(remaining, step, action) {
    const button = make("button", "", `Show ${number(Math.min(step, remaining))} more`);
    button.type = "button";
    button.addEventListener("click", action);
    return make("p", "more", button, `${number(remaining)} not shown`);
  }

  /** Headers become buttons; `onSort(index, key, direction)` is called with 1 for ascending and -1 for descending. */
  function makeSortable(table, onSort) {
    const headers = [...table.tHead.rows[0].cells];
    headers.forEach((header, index) => {
      const button = make("button", "", header.textContent);
      button.type = "button";
      header.replaceChildren(button);
      button.addEventListener("click", () => {
        const usual = header.classList.contains("num") ? "descending" : "ascending";
        const opposite = usual === "descending" ? "ascending" : "descending";
        const order = header.getAttribute("aria-sort") === usual ? opposite : usual;
        headers.forEach((other) => other.removeAttribute("aria-sort"));
        header.setAttribute("aria-sort", order);
        onSort(index, header.dataset.key, order === "ascending" ? 1 : -1);
      });
    });
  }

  // ---- unsupported names ------------------------------------------------------------------------------------------

  function setUpUnsupported(table) {
    const body = table.tBodies[0];
    let rows = [...body.rows];
    let all = rows.length <= UNSUPPORTED_ROWS + 5;
    const show = () => rows.forEach((row, index) => { row.hidden = !all && index >= UNSUPPORTED_ROWS; });
    const value = (row, index, key) => {
      const text = row.cells[index].textContent;
      return key === "number" ? Number(text.replaceAll(",", "")) : text;
    };
    makeSortable(table, (index, key, direction) => {
      const compare = key === "number" ? (a, b) => a - b : compareText;
      rows.sort((a, b) => direction * compare(value(a, index, key), value(b, index, key)));
      body.append(...rows);
      show();
    });
    if (all) return;
    const button = make("button", "", `Show all ${number(rows.length)}`);
    button.type = "button";
    const line = make("p", "more", button);
    const reveal = () => { all = true; show(); line.remove(); };
    button.addEventListener("click", reveal);
    addEventListener("beforeprint", reveal);
    table.parentElement.append(line);
    show();
  }

  // ---- findings ---------------------------------------------------------------------------------------------------

  const rules = new Map();
  const searchable = (f) => [f.path, f.name, f.message, f.rule, f.function, f.source_line, f.old].join("\n").toLowerCase();

  function setUpFindings() {
    for (const file of data.files) for (const finding of file.findings) {
      if (!rules.has(finding.rule)) rules.set(finding.rule, { all: [], shown: [], limit: PLACES });
      rules.get(finding.rule).all.push(finding);
    }
    for (const details of document.querySelectorAll("details.rule")) {
      const rule = rules.get(details.dataset.rule);
      rule.details = details;
      rule.places = details.querySelector(".places");
      rule.counts = details.querySelector(".counts");
      details.addEventListener("toggle", () => { if (details.open) renderRule(rule); });
    }
    byId("finding-text").addEventListener("input", later(filterFindings));
    byId("finding-severity").addEventListener("change", filterFindings);
    byId("expand").addEventListener("click", expandOrCollapse);
    for (const link of document.querySelectorAll("a[data-find], a[data-severity]")) {
      link.addEventListener("click", () => showFindings(link.dataset.find || "", link.dataset.severity || ""));
    }
    filterFindings();
  }

  function filterFindings() {
    const text = byId("finding-text").value.trim().toLowerCase();
    const severity = byId("finding-severity").value;
    let shown = 0, total = 0;
    for (const rule of rules.values()) {
      rule.shown = rule.all.filter((finding) =>
        (!severity || finding.severity === severity) && (!text || searchable(finding).includes(text)));
      rule.topics = null;
      rule.limit = PLACES;
      rule.details.hidden = rule.shown.length === 0;
      shown += rule.shown.length;
      total += rule.all.length;
      renderCounts(rule);
      if (rule.details.open && rule.shown.length) renderRule(rule);
    }
    byId("finding-count").textContent =
      shown === total ? count(total, "finding") : `${number(shown)} of ${count(total, "finding")}`;
  }

  function renderCounts(rule) {
    rule.counts.replaceChildren();
    for (const severity of SEVERITIES) {
      const some = rule.shown.filter((finding) => finding.severity === severity).length;
      if (some) rule.counts.append(make("span", `badge ${severity}`, count(some, NOUNS[severity])));
    }
    const files = new Set(rule.shown.map((finding) => finding.path)).size;
    rule.counts.append(make("span", "in-files", `in ${count(files, "file")}`));
  }

  /** Findings that say the same about the same name, together: the most severe topics first, then the largest. */
  function topicsOf(findings) {
    const topics = new Map();
    for (const finding of findings) {
      const key = [finding.severity, finding.name, finding.message, finding.advice].join("\u0000");
      if (!topics.has(key)) topics.set(key, []);
      topics.get(key).push(finding);
    }
    const rank = (topic) => SEVERITIES.indexOf(topic[0].severity);
    return [...topics.values()].sort((a, b) => rank(a) - rank(b) || b.length - a.length);
  }

  function renderRule(rule) {
    rule.topics ??= topicsOf(rule.shown);
    rule.places.replaceChildren();
    let room = rule.limit;
    for (const topic of rule.topics) {
      if (room <= 0) break;
      rule.places.append(renderTopic(topic, room));
      room -= topic.length;
    }
    const remaining = rule.shown.length - rule.limit;
    if (remaining > 0) {
      rule.places.append(moreButton(remaining, PLACES, () => {
        const position = rule.places.querySelectorAll("li").length;
        rule.limit += PLACES;
        renderRule(rule);
        const next = rule.places.querySelectorAll("li")[position];
        next.tabIndex = -1;
        next.focus({ preventScroll: true });
      }));
    }
  }

  function renderTopic(topic, room) {
    const first = topic[0];
    const box = make("div", "topic");
    const badge = make("span", `badge ${first.severity}`, count(topic.length, NOUNS[first.severity]));
    const title = first.name ? make("code", "", visible(first.name)) : make("span", "", visible(first.message));
    box.append(make("h3", "", title, badge));
    if (first.name) box.append(make("p", "", visible(first.message)));
    if (first.advice) box.append(make("p", "advice-text", visible(first.advice)));
    for (const [path, findings] of byFile(topic.slice(0, room))) {
      box.append(make("h4", "", visible(path)));
      box.append(make("ol", "", ...findings.map(renderPlace)));
    }
    return box;
  }

  function byFile(findings) {
    const files = new Map();
    for (const finding of findings) {
      if (!files.has(finding.path)) files.set(finding.path, []);
      files.get(finding.path).push(finding);
    }
    return files;
  }

  function renderPlace(finding) {
    const wholeFile = finding.line === 1 && finding.column === 1 && !finding.source_line;
    const item = make("li", "", make("span", "at", wholeFile ? "whole file" : `${finding.line}:${finding.column}`));
    if (finding.source_line) item.append(renderCode(finding));
    const notes = make("span", "notes-on-place");
    if (finding.changed && finding.new) notes.append(make("span", "", "ported as ", make("code", "", visible(finding.new))));
    if (finding.function) notes.append(make("span", "", "in ", make("code", "", visible(finding.function))));
    if (notes.hasChildNodes()) item.append(notes);
    return item;
  }

  /** The source line with the place marked. Columns count code points, JavaScript strings count UTF-16 units. */
  function renderCode(finding) {
    const line = Array.from(finding.source_line);
    const wanted = Array.from(finding.old.split("\n", 1)[0].replace(/\r$/, ""));
    const start = Math.min(finding.column - 1, line.length);
    const end = Math.min(start + wanted.length, line.length);
    let from = line.findIndex((char) => char !== " " && char !== "\t");
    if (from < 0 || from > start) from = start;
    let to = line.length;
    if (to - from > WINDOW) {
      from = Math.max(from, start - WINDOW / 4);
      to = Math.min(to, from + WINDOW);
    }
    const text = (a, b) => visible(line.slice(a, b).join(""));
    const code = make("code", "", (from > 0 && line.slice(0, from).join("").trim() ? "…" : "") + text(from, start));
    const marked = Math.min(end, to);
    if (marked > start) code.append(make("mark", "", text(start, marked)));
    code.append(text(Math.max(start, marked), to) + (to < line.length ? "…" : ""));
    return make("pre", "", code);
  }

  function expandOrCollapse() {
    const shown = [...rules.values()].filter((rule) => rule.shown.length);
    const open = shown.some((rule) => !rule.details.open);
    for (const rule of shown) rule.details.open = open;
    byId("expand").textContent = open ? "Collapse all" : "Expand all";
  }

  /** Go to the findings that match. */
  function showFindings(text, severity) {
    byId("finding-text").value = text;
    byId("finding-severity").value = severity;
    filterFindings();
    const shown = [...rules.values()].filter((rule) => rule.shown.length);
    if (text) for (const rule of shown) rule.details.open = true;
    byId("findings").scrollIntoView();
    byId("findings").focus({ preventScroll: true });
  }

  // ---- files ------------------------------------------------------------------------------------------------------

  let files = [], filesShown = [], rowLimit = ROWS;

  function setUpFiles(table) {
    const labels = Object.fromEntries([...byId("file-status").options].map((option) => [option.value, option.text]));
    files = data.files.map((file) => {
      const row = { file, path: file.path, status: labels[file.status], edits: file.edit_count, size: file.size };
      for (const severity of SEVERITIES) row[severity] = 0;
      for (const finding of file.findings) row[finding.severity] += 1;
      row.text = `${file.path}\n${file.output_path || ""}\n${file.reason}`.toLowerCase();
      return row;
    });
    files.sort((a, b) => b.error - a.error || b.warning - a.warning || b.info - a.info || compareText(a.path, b.path));
    makeSortable(table, (index, key, direction) => {
      const compare = key === "path" || key === "status" ? compareText : (a, b) => a - b;
      files.sort((a, b) => direction * compare(a[key], b[key]));
      filterFiles();
    });
    byId("file-text").addEventListener("input", later(filterFiles));
    byId("file-severity").addEventListener("change", filterFiles);
    byId("file-status").addEventListener("change", filterFiles);
    table.hidden = false;
    filterFiles();
  }

  function filterFiles() {
    const text = byId("file-text").value.trim().toLowerCase();
    const severity = byId("file-severity").value;
    const status = byId("file-status").value;
    filesShown = files.filter((row) =>
      (!text || row.text.includes(text)) && (!status || row.file.status === status) && matchesSeverity(row, severity));
    rowLimit = ROWS;
    renderFiles();
    byId("file-count").textContent = filesShown.length === files.length
      ? count(files.length, "file") : `${number(filesShown.length)} of ${count(files.length, "file")}`;
  }

  function matchesSeverity(row, severity) {
    if (!severity) return true;
    return severity === "none" ? row.file.findings.length === 0 : row[severity] > 0;
  }

  function renderFiles() {
    const table = byId("file-table");
    table.tBodies[0].replaceChildren(...filesShown.slice(0, rowLimit).map(renderFile));
    table.parentElement.querySelector(".more")?.remove();
    const remaining = filesShown.length - rowLimit;
    if (remaining > 0) {
      table.parentElement.append(moreButton(remaining, ROWS, () => { rowLimit += ROWS; renderFiles(); }));
    }
  }

  function renderFile(row) {
    const name = make("th", "", make("code", "", visible(row.path)));
    name.scope = "row";
    const { file } = row;
    if (file.output_path && file.output_path !== file.path) {
      name.append(make("span", "renamed", " → ", make("code", "", visible(shortened(file.output_path, file.path)))));
    }
    if (file.reason) name.append(make("span", "sub", visible(file.reason)));
    const cells = SEVERITIES.map((severity) => make("td", "num", findingsButton(row, severity)));
    return make("tr", "", name, make("td", "status", row.status), ...cells,
      make("td", row.edits ? "num" : "num zero", number(row.edits)), make("td", "num", size(row.size)));
  }

  /** What differs in a path that was renamed: the extension, the name, or all of it. */
  function shortened(path, before) {
    const common = (end) => path.slice(0, end) === before.slice(0, end);
    const dot = path.lastIndexOf("."), folder = path.lastIndexOf("/") + 1;
    if (dot > folder && common(dot + 1)) return path.slice(dot);
    return before.lastIndexOf("/") + 1 === folder && common(folder) ? path.slice(folder) : path;
  }

  function findingsButton(row, severity) {
    if (!row[severity]) return make("span", "zero", "0");
    const button = make("button", severity, number(row[severity]));
    button.type = "button";
    button.setAttribute("aria-label", `${count(row[severity], NOUNS[severity])} in ${row.path}: show`);
    button.addEventListener("click", () => showFindings(row.path, severity));
    return button;
  }

  // ---- printing: what is folded cannot be unfolded on paper ---------------------------------------------------------

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const details of closed) details.open = true;
    for (const rule of rules.values()) {
      rule.limit = Math.max(rule.limit, PRINTED_PLACES);
      if (rule.shown.length) renderRule(rule);
    }
    if (files.length) { rowLimit = Math.max(rowLimit, PRINTED_ROWS); renderFiles(); }
  });
  addEventListener("afterprint", () => { for (const details of closed) details.open = false; });

  for (const form of document.querySelectorAll("form.filters")) {
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  if (byId("unsupported-table")) setUpUnsupported(byId("unsupported-table"));
  if (byId("finding-text")) setUpFindings();
  if (byId("file-table")) setUpFiles(byId("file-table"));
})();
