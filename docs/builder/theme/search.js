// The search of the site: a dialog over the page. The index is a script, so that it is found from files too.
"use strict";
(() => {
  const opener = document.querySelector("[data-search-open]");
  if (!opener) return;
  const root = opener.dataset.searchRoot;
  const MOST = 12, LETTERS = 3;
  let dialog, input, list, status, index, words;

  // --- what a question means ---

  function rootOf(word) {
    word = word.split("'")[0];
    for (const [ending, instead, least] of index.endings) {
      if (!word.endsWith(ending) || word.length - ending.length < least) continue;
      if (ending === "s" && /(ss|us|is)$/.test(word)) continue;
      let short = word.slice(0, word.length - ending.length) + instead;
      if (/^(ings?|ed|ers?)$/.test(ending) && /([bdgmnprt])\1$/.test(short)) {
        short = short.slice(0, -1);
      }
      return short;
    }
    return word;
  }

  function divide(text) {
    const lower = text.toLowerCase(), plain = new RegExp(`^(?:${index.word})$`), found = [];
    for (const [word] of lower.matchAll(new RegExp(index.word, "g"))) {
      found.push({ raw: word, root: rootOf(word), idle: idle.has(word), plain: true });
    }
    for (const [name] of lower.matchAll(new RegExp(index.name, "g"))) {
      if (!plain.test(name)) found.push({ raw: name, root: name, idle: false, plain: false });
    }
    const wanted = found.filter((each) => !each.idle);
    return wanted.length ? wanted : found;
  }

  let idle = new Set();

  function rowsOf(word) {
    return Object.hasOwn(index.words, word) ? index.words[word] : [];
  }

  // The words that begin like one that is still being typed.
  function beginnings(raw) {
    let low = 0, high = words.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (words[middle] < raw) low = middle + 1; else high = middle;
    }
    const found = [];
    for (; low < words.length && words[low].startsWith(raw) && found.length < 40; low++) {
      found.push(words[low]);
    }
    return found;
  }

  function isNear(one, other) {
    if (Math.abs(one.length - other.length) > 1) return false;
    let at = 0;
    while (at < one.length && one[at] === other[at]) at++;
    const swapped = one[at] === other[at + 1] && one[at + 1] === other[at];
    return one.slice(at + 1) === other.slice(at + 1) || one.slice(at) === other.slice(at + 1)
      || one.slice(at + 1) === other.slice(at) || (swapped && one.slice(at + 2) === other.slice(at + 2));
  }

  // The weight of each page for one word of the question.
  function weigh(word, isLast) {
    const weights = new Map();
    const take = (term, factor) => {
      const rows = rowsOf(term);
      for (let at = 0; at < rows.length; at += 2) {
        const weight = rows[at + 1] * factor;
        if (weight > (weights.get(rows[at]) || 0)) weights.set(rows[at], weight);
      }
    };
    take(word.root, 1);
    const alike = Object.hasOwn(index.synonyms, word.root) ? index.synonyms[word.root] : [];
    for (const other of alike) take(other, 0.6);
    if (isLast && word.raw.length >= LETTERS) {
      for (const other of beginnings(word.raw)) take(other, weights.size ? 0.3 : 0.7);
    }
    if (!weights.size && word.raw.length > 4) {
      for (const other of words) {
        if (other[0] === word.root[0] && isNear(word.root, other)) take(other, 0.6);
      }
    }
    return weights;
  }

  function find(text) {
    const asked = text.trim().toLowerCase();
    const wanted = divide(asked);
    const scores = new Map(), hits = new Map();
    wanted.forEach((word, at) => {
      const isLast = at === wanted.filter((each) => each.plain).length - 1 && !/\s$/.test(text);
      for (const [page, weight] of weigh(word, isLast && word.plain)) {
        scores.set(page, (scores.get(page) || 0) + weight);
        hits.set(page, (hits.get(page) || 0) + 1);
      }
    });
    const names = new Set(wanted.map((each) => each.raw));
    const roots = new Set(wanted.map((each) => each.root));
    const words = asked.split(/[^\w'-]+/).filter(Boolean);
    const pairs = words.slice(1).map((word, at) => [words[at], word])
      .filter((pair) => !pair.every((word) => idle.has(word)))
      .map((pair) => [` ${pair.join(" ")} `, pair.some((word) => idle.has(word)) ? 0.1 : 0.25]);
    const found = [];
    for (const [page, score] of scores) {
      const [title, , kind] = index.pages[page];
      const known = title.toLowerCase().replace(/^sexplang[ .]/, "");
      let rank = score * index.kinds[kind][1] * (0.3 + 0.7 * hits.get(page) / wanted.length);
      // Words that follow each other in the title, too; a title of these words and no others.
      const plain = ` ${title.toLowerCase().replace(/[^\w'-]+/g, " ")} `;
      for (const [pair, more] of pairs) if (plain.includes(pair)) rank *= 1 + more;
      const own = divide(title).filter((each) => each.plain);
      if (own.length > 1 && own.length === roots.size && own.every((each) => roots.has(each.root))) rank *= 1.8;
      if (known === asked || title.toLowerCase() === asked) rank += 1e6;
      else if (!/^\w+$/.test(known) && names.has(known)) rank += 1e3;
      found.push([rank, page]);
    }
    found.sort((one, other) => other[0] - one[0] || one[1] - other[1]);
    return { wanted, pages: found.map(([, page]) => page) };
  }

  // --- what is shown ---

  function bestSection(sections, roots) {
    let best = 0, most = -1;
    sections.forEach(([, heading, text], at) => {
      let count = 0;
      const inHeading = new Set(divide(heading).map((each) => each.root));
      const inText = new Set(divide(text).map((each) => each.root));
      for (const root of roots) count += 3 * inHeading.has(root) + inText.has(root);
      if (count > most) [best, most] = [at, count];
    });
    return sections[best] || ["", "", ""];
  }

  function excerpt(text, wanted) {
    const lower = text.toLowerCase();
    let first = -1;
    for (const { raw, root } of wanted) {
      const at = lower.indexOf(lower.includes(raw) ? raw : root);
      if (at >= 0 && (first < 0 || at < first)) first = at;
    }
    const start = first > 90 ? lower.indexOf(" ", first - 70) + 1 : 0;
    const piece = text.slice(start, start + 170);
    const line = document.createElement("span");
    line.className = "search-text";
    if (start) line.append("… ");
    for (const part of piece.split(/(\s+)/)) {
      const isFound = divide(part).some((each) => wanted.some((one) => one.root === each.root));
      if (isFound && part.trim()) {
        const mark = document.createElement("mark");
        mark.textContent = part;
        line.append(mark);
      } else line.append(part);
    }
    if (start + 170 < text.length) line.append(" …");
    return line;
  }

  function show() {
    list.replaceChildren();
    const text = input.value;
    if (!text.trim() || !index) {
      status.textContent = "";
      return;
    }
    const { wanted, pages } = find(text);
    const roots = wanted.map((each) => each.root);
    for (const page of pages.slice(0, MOST)) {
      const [title, address, kind, sections] = index.pages[page];
      const [anchor, heading, body] = bestSection(sections, roots);
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = `${root}/${address}`;
      const head = document.createElement("span"), label = document.createElement("span");
      head.className = "search-title";
      head.textContent = title;
      label.className = "search-kind";
      label.textContent = index.kinds[kind][0];
      link.append(head, label, excerpt(body, wanted));
      item.append(link);
      if (anchor) {
        const inner = document.createElement("a");
        inner.className = "search-section";
        inner.href = `${root}/${address}#${anchor}`;
        inner.textContent = heading;
        item.append(inner);
      }
      list.append(item);
    }
    const count = pages.length;
    status.textContent = count ? `${count} page${count > 1 ? "s" : ""}` : "No page has these words.";
    dialog.dataset.shown = text;
  }

  function move(event) {
    const links = [...list.querySelectorAll("li > a:first-child")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown" && links.length) links[Math.min(at + 1, links.length - 1)].focus();
    else if (event.key === "ArrowUp" && at >= 0) (at ? links[at - 1] : input).focus();
    else if (event.key === "Enter" && event.target === input && links.length) links[0].click();
    else if (event.key === "Escape") dialog.close();
    else return;
    event.preventDefault();
  }

  function make() {
    dialog = document.createElement("dialog");
    dialog.className = "search";
    dialog.setAttribute("aria-label", "Search");
    dialog.innerHTML = `<div class="search-bar"><input type="search" aria-label="Search" placeholder="Search"
      autocomplete="off" spellcheck="false"><button type="button" class="search-close">Close</button></div>
      <p class="search-status" role="status"></p><ol class="search-results"></ol>`;
    document.body.append(dialog);
    input = dialog.querySelector("input");
    status = dialog.querySelector(".search-status");
    list = dialog.querySelector(".search-results");
    input.addEventListener("input", show);
    dialog.addEventListener("keydown", move);
    dialog.querySelector(".search-close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest(".search-results a")) dialog.close();
    });
    const script = document.createElement("script");
    script.src = `${root}/assets/search-index.js`;
    script.onload = () => {
      index = window.siteIndex;
      idle = new Set(index.idle);
      words = Object.keys(index.words).sort((one, other) => (one < other ? -1 : 1));
      dialog.dataset.ready = "";
      show();
    };
    script.onerror = () => { status.textContent = "The index is not there."; };
    document.head.append(script);
  }

  function open() {
    if (!dialog) make();
    if (!dialog.open) dialog.showModal();
    input.focus();
    input.select();
  }

  opener.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    const asked = (event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey));
    if (asked && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      open();
    }
  }, true);
})();
