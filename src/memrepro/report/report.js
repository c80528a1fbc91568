"use strict";
// Fills in what grows with the run: the grid and the list of items. Every text of the data becomes a
// text node, so none of it is ever read as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 50;
  const BENCHMARKS = { inmind: "InMind", cimemories: "CIMemories", retention: "Retention policy" };
  const OUTCOMES = ["won", "lost", "error", "left out"];

  // An element with attributes, and children that are elements or texts.
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  const text = (value) => make("div", { class: "text" }, value);
  const words = (name) => name.replaceAll("_", " ");
  const code = (value) => make("code", {}, value);

  function table(caption, head, rows) {
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      make("table", {},
        make("caption", {}, caption),
        make("thead", {}, make("tr", {}, ...head.map((one) => make("th", { scope: "col" }, one)))),
        make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map(
          (one, place) => make(place ? "td" : "th", place ? {} : { scope: "row" }, one)))))));
  }

  function titled(title, ...children) {
    return [make("h4", {}, title), ...children];
  }

  function details(summary, ...children) {
    return make("details", {}, make("summary", {}, summary), ...children);
  }

  // A text with the first of some passages marked; all of it where none stands in it as it is.
  function marked(value, passages) {
    const passage = passages.find((one) => value.includes(one));
    if (!passage) return [make("mark", {}, value)];
    const start = value.indexOf(passage);
    return [value.slice(0, start), make("mark", {}, passage), value.slice(start + passage.length)];
  }

  // ---------------------------------------------------------------- items, a reader a benchmark

  // Each returns items: system, run, outcome, what (a line), body (elements), and maybe also, what
  // else a text is looked for in.
  const READERS = { inmind, cimemories, retention };

  function inmind(of) {
    return of.items.map((item) => {
      const task = of.tasks[item.t];
      return {
        system: item.s, run: "", outcome: item.o,
        what: () => `Task ${item.t}: ${task.indirect}`,
        also: () => task.fact,
        body: () => inmindBody(of, item, task),
      };
    });
  }

  function inmindBody(of, item, task) {
    return [
      ...titled("Fact, told long before", said("user", task.fact), said("assistant", task.reply)),
      make("div", { class: "queries" },
        question(of, item, task, "indirect", "Indirect question"),
        question(of, item, task, "naive", "Direct question")),
      ...titled("What the answer should heed", text(task.explanation)),
      ...titled("Verdicts", verdicts(item.v || [])),
    ];
  }

  const said = (role, value) => make("div", { class: "text" },
    make("span", { class: "role" }, role), value);

  function question(of, item, task, query, title) {
    return make("div", {}, ...titled(title, text(task[query])), ...context(of, item, task, query),
      ...answers(item, query).filter(Boolean));
  }

  function context(of, item, task, query) {
    const found = (item.c || {})[query];
    if (!found) return [];
    const targets = new Set(found.target || []);
    const shown = (found.shown || []).map((turn) => {
      if (turn < 0) return make("p", { class: "left-out" }, `${-turn} more not shown`);
      const value = of.turns[turn];
      if (!targets.has(turn)) return text(value);
      return make("div", { class: "text target" }, make("span", { class: "tag" }, "target"),
        ...marked(value, [task.fact, task.reply]));
    });
    const count = `${found.n || 0} item${found.n === 1 ? "" : "s"}`;
    const told = targets.size ? "the target is among them" : "without the target";
    return [make("div", { class: "context" },
      ...titled(`Context: ${count}, ${found.n ? told : "nothing recalled"}`, ...shown),
      make("p", {}, "SHA-256 of the context shown: ", code(found.sha256)))];
  }

  function answers(item, query) {
    return (item.a || []).filter((one) => one.q === query).flatMap((one) => titled(
      one.c === "with_target" ? "Answer" : "Answer on the history without the fact",
      one.text ? text(one.text) : make("p", {}, `no answer: ${words(one.status)}`),
      key("Call", one)));
  }

  function key(name, row) {
    const raised = row.raised ? " (under a raised token cap)" : "";
    return row.key ? make("p", {}, `${name}: `, code(row.key), raised) : null;
  }

  function verdicts(rows) {
    return table("Verdicts", ["metric", "history", "verdict", "judge", "call"], rows.map((row) => [
      words(row.m), words(row.c),
      "score" in row ? (row.score ? "1, yes" : "0, no") : `${words(row.status)} ${row.raw || ""}`,
      row.judge, row.key ? code(row.key) : "–",
    ]));
  }

  function cimemories(of) {
    return of.items.map((item) => {
      const profile = of.profiles[item.p];
      const [recipient, task, labels] = profile.contexts[item.c];
      const reveals = item.r === "x" ? "x".repeat(labels.length) : item.r;
      const model = item.judge === "verbatim" ? "composer" : `model, level ${item.level || 0}`;
      return {
        system: item.s, run: item.composition ? `${model}, ${item.composition}` : model,
        outcome: item.o,
        what: () => `${recipient}: ${task} (${profile.name}): ${tally(labels, reveals)}`,
        body: () => cimemoriesBody(profile, item, labels, reveals),
      };
    });
  }

  const places = (labels, reveals, label, letter) => [...labels].flatMap(
    (one, place) => (one === label && (!letter || reveals[place] === letter) ? [place] : []));

  function tally(labels, reveals) {
    const count = (...of) => places(labels, reveals, ...of).length;
    const open = count("i", "x") + count("n", "x");
    return `${count("i", "1")} of ${count("i")} inappropriate told, `
      + `${count("n", "0")} of ${count("n")} necessary missing${open ? `, ${open} not judged` : ""}`;
  }

  function cimemoriesBody(profile, item, labels, reveals) {
    const [recipient, task] = profile.contexts[item.c];
    const list = (title, ...of) => {
      const found = places(labels, reveals, ...of);
      return found.length ? titled(`${title}: ${found.length}`, statements(profile, found)) : [];
    };
    return [
      ...titled("Recipient and task", text(`${recipient}: ${task}`)),
      ...message(item),
      ...list("Told, and inappropriate here", "i", "1"),
      ...list("Necessary, and missing", "n", "0"),
      ...list("Necessary, and told", "n", "1"),
      ...list("Inappropriate, and not judged", "i", "x"),
      ...list("Necessary, and not judged", "n", "x"),
      selection(profile, item, labels),
      ...titled("Verdict", make("p", {}, `${words(item.status)}, by ${item.judge}`),
        key("Call", item), item.raw ? text(item.raw) : null),
    ];
  }

  function message(item) {
    if (item.judge === "verbatim") {
      return titled("Message", make("p", {}, "The composer tells the whole context as it is."));
    }
    return titled(`Message, trial ${item.trial || 0}`,
      item.answer ? text(item.answer) : make("p", {}, `no message: ${words(item.answer_status)}`),
      key("Call", { key: item.answer_key }));
  }

  const statements = (profile, found) => make("ul", {}, ...found.map((place) => {
    const [name, domain, statement] = profile.attributes[place];
    return make("li", {}, `${name} (${domain}): ${statement}`);
  }));

  function selection(profile, item, labels) {
    const chosen = item.selection || [];
    const names = { n: "necessary", i: "inappropriate", a: "ambiguous" };
    const block = details(`Context: ${chosen.length} of ${profile.attributes.length} statements`);
    whenOpened(block, () => [
      make("ol", {}, ...chosen.map((position) => {
        const label = labels[position - 1];
        const statement = profile.attributes[position - 1][2];
        return make("li", {}, label === "i" ? make("mark", {}, statement) : statement,
          ` (${names[label] || "not labelled"})`);
      })),
      item.sha256 ? make("p", {}, "SHA-256 of the context: ", code(item.sha256)) : null,
    ]);
    return block;
  }

  function retention(of) {
    const place = Object.fromEntries(of.cell.map((name, number) => [name, number]));
    return of.runs.flatMap((run) => run.cells.map((cell) => {
      const get = (name) => cell[place[name]] ?? null;
      const word = (name) => (get(name) === null ? null : of.words[get(name)]);
      const [, category, fact] = of.facts[get("fact")];
      const outcome = { 0: "lost", 1: "won" }[get("score")] || "error";
      return {
        system: run.s, run: `${run.edition} · ${run.mode}`, outcome,
        what: () => `${get("policy")}: ${fact}`,
        body: () => retentionBody(of, get, word, category, fact),
      };
    }));
  }

  function retentionBody(of, get, word, category, fact) {
    const recalled = { 0: "no", 1: "yes" }[get("recalled")] || "not known";
    const rule = word("rule");
    const results = (get("results") || []).map((number) => text(of.texts[number]));
    return [
      ...titled("Policy", text(of.policies[get("policy")])),
      ...titled(`Fact, of category ${category}`, text(fact)),
      ...titled("Decision", make("p", {},
        `${get("blocked") ? "blocked" : "kept"}, decided by ${word("decided_by")}`,
        rule ? ` (keyword: ${rule})` : "", `; expected: ${word("expected")}`),
        key("Guard's call", { key: get("guard_key"), raised: get("raised") })),
      ...titled("Recall", make("p", {}, `recalled: ${recalled}; ${get("n")} results`), ...results,
        key("Judge's call", { key: get("judge_key") }), get("raw") ? text(get("raw")) : null),
      ...titled("Reason", make("p", {}, words(word("reason") || "passed"))),
    ];
  }

  // ---------------------------------------------------------------- the list

  function whenOpened(block, body) {
    block.addEventListener("toggle", () => {
      if (block.open && !block.dataset.filled) {
        block.dataset.filled = "yes";
        block.append(...body().filter((child) => child !== null));
      }
    });
  }

  function row(item) {
    const block = details("");
    block.firstChild.append(
      make("span", { class: `outcome ${item.outcome.split(" ")[0]}` }, item.outcome),
      make("span", { class: "who" }, [item.system, item.run].filter(Boolean).join(" · ")),
      make("span", { class: "what" }, item.what()));
    whenOpened(block, () => [make("div", { class: "body" }, ...item.body().filter(Boolean))]);
    return make("li", {}, block);
  }

  function select(name, id) {
    const box = make("select", { id });
    return [make("label", {}, name, box), box];
  }

  const holds = (item, wanted) => item.what().toLowerCase().includes(wanted)
    || (item.also ? item.also().toLowerCase().includes(wanted) : false);

  function options(box, values, all) {
    const before = box.value;
    box.replaceChildren(make("option", { value: "" }, all),
      ...values.map((value) => make("option", { value }, BENCHMARKS[value] || value)));
    box.value = values.includes(before) ? before : "";
    box.disabled = !values.length;
  }

  function browser(root, items) {
    const [benchmarkLabel, benchmark] = select("Benchmark", "filter-benchmark");
    const [systemLabel, system] = select("System", "filter-system");
    const [runLabel, run] = select("Run", "filter-run");
    const [outcomeLabel, outcome] = select("Outcome", "filter-outcome");
    const search = make("input", { id: "filter-text", type: "search" });
    const status = make("p", { id: "status", role: "status", "aria-live": "polite" });
    const back = make("button", { id: "back", type: "button" }, "Previous page");
    const on = make("button", { id: "next", type: "button" }, "Next page");
    const list = make("ul", { class: "list", id: "list" });
    let found = items;
    let first = 0;

    const matches = (item, but) => (!benchmark.value || item.benchmark === benchmark.value)
      && (but === "system" || !system.value || item.system === system.value)
      && (but || !run.value || item.run === run.value);

    function refine() {
      const names = (field) => [...new Set(
        items.filter((item) => matches(item, field)).map((item) => item[field]))].filter(Boolean);
      options(system, names("system").sort(), "all");
      options(run, names("run").sort(), "all");
      const wanted = search.value.toLowerCase();
      found = items.filter((item) => matches(item)
        && (!outcome.value || item.outcome === outcome.value)
        && (!wanted || holds(item, wanted)));
      show(0);
    }

    function show(start) {
      first = start;
      const shown = found.slice(first, first + PAGE);
      list.replaceChildren(...shown.map(row));
      const counts = OUTCOMES.map((name) => [found.filter((item) => item.outcome === name).length, name])
        .filter(([count]) => count).map(([count, name]) => `${count.toLocaleString("en")} ${name}`);
      status.textContent = found.length
        ? `${(first + 1).toLocaleString("en")}–${(first + shown.length).toLocaleString("en")} of `
          + `${found.length.toLocaleString("en")} items (${counts.join(", ")})`
        : "No item fits these filters.";
      back.disabled = first === 0;
      on.disabled = first + PAGE >= found.length;
    }

    options(benchmark, [...new Set(items.map((item) => item.benchmark))], "all");
    options(outcome, OUTCOMES.filter((name) => items.some((item) => item.outcome === name)), "all");
    for (const box of [benchmark, system, run, outcome]) box.addEventListener("change", refine);
    search.addEventListener("input", refine);
    back.addEventListener("click", () => show(first - PAGE));
    on.addEventListener("click", () => show(first + PAGE));
    list.addEventListener("keydown", walk);
    root.append(
      make("p", {}, "InMind: won if the indirect question brought the fact back, as judged, or word "
        + "for word where no model judged. CIMemories: won if a message tells everything necessary "
        + "and nothing inappropriate; left out if its context has nothing to share or nothing to "
        + "withhold. Retention: won if the fact was dropped or kept as it should be. Arrow keys "
        + "move from item to item, Enter opens one."),
      make("div", { class: "filters", role: "group", "aria-label": "Filters" }, benchmarkLabel,
        systemLabel, runLabel, outcomeLabel, make("label", {}, "Text", search)),
      make("div", { class: "pages" }, back, on, status), list);
    refine();
  }

  // Arrow keys, Home and End move the focus between the items of a page.
  function walk(event) {
    const summaries = [...event.currentTarget.querySelectorAll(":scope > li > details > summary")];
    const place = summaries.indexOf(event.target);
    const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: summaries.length - 1 };
    if (place < 0 || !(event.key in next) || !summaries[next[event.key]]) return;
    event.preventDefault();
    summaries[next[event.key]].focus();
  }

  // ---------------------------------------------------------------- the grid

  function grid(root, runs) {
    const [label, box] = select("Run", "grid-run");
    box.append(...runs.map((run, number) => make("option", { value: number }, run.name)));
    const place = make("div");
    const show = () => place.replaceChildren(drawn(runs[Number(box.value)]));
    box.addEventListener("change", show);
    root.append(label, place,
      make("p", {}, "Facts that passed of those in the cell; the redder, the fewer. A dotted frame: "
        + "some have no score."));
    show();
  }

  function drawn(run) {
    const across = run.categories.length;
    const rows = run.policies.map((policy, y) => make("tr", {}, make("th", { scope: "row" }, policy),
      ...run.cells.slice(y * across, (y + 1) * across).map(([total, scored, passed]) => {
        const cell = make("td", scored < total ? { class: "open" } : {}, `${passed}/${total}`);
        cell.style.background = `rgba(var(--bad), ${(0.5 * (1 - passed / total)).toFixed(3)})`;
        return cell;
      })));
    const head = run.categories.map((name) => make("th", { scope: "col" }, make("span", {}, name)));
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": run.name },
      make("table", { class: "grid" }, make("caption", {}, run.name),
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "policy"), ...head)),
        make("tbody", {}, ...rows)));
  }

  const items = Object.entries(data.items).flatMap(
    ([benchmark, of]) => READERS[benchmark](of).map((item) => ({ benchmark, ...item })));
  browser(document.getElementById("browser"), items);
  if (data.grids.length) grid(document.getElementById("grid"), data.grids);
})();
