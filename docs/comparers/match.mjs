#!/usr/bin/env node
// Rules: docs/matching.md. Lines of {"want","got"} in, {"matches","mismatch"} out.
import { readFileSync } from "node:fs";

// flat puts the value at text[i] and all below it into tree, by pointer: what is compared, raw text.
function flat(text, i, at, tree) {
  const after = (pattern, from) => ((pattern.lastIndex = from), pattern.exec(text), pattern.lastIndex);
  const blank = (from) => after(/[ \t\r\n]*/y, from);
  const start = (i = blank(i));
  let norm = text[i];
  if (norm === '"') {
    i = after(/"(?:[^"\\]|\\.)*"/y, i);
    norm += JSON.parse(text.slice(start, i)).replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
  } else if (norm === "{" || norm === "[") {
    i = blank(i + 1);
    for (let n = 0; text[i] !== "}" && text[i] !== "]"; n++) {
      let token = String(n);
      if (norm === "{") {
        const name = new Map();
        i = blank(flat(text, i, "", name)) + 1;
        token = name.get("")[0].slice(1).replaceAll("~", "~0").replaceAll("/", "~1");
        // Of a repeated key the last value counts.
        for (const p of [...tree.keys()]) if ((p + "/").startsWith(`${at}/${token}/`)) tree.delete(p);
      }
      i = blank(flat(text, i, `${at}/${token}`, tree));
      if (text[i] === ",") i = blank(i + 1);
    }
    i++;
  } else {
    i = after(/[-+.0-9a-zA-Z]+/y, i);
    norm = text.slice(start, i);
  }
  tree.set(at, [norm, text.slice(start, i)]);
  return i;
}

// w and g are where in tree the want and the output stand.
function match(tree, w, g, optional = [], ignore = []) {
  const norm = (p) => (tree.get(p) ?? ["", ""])[0];
  const text = (p) => norm(p).slice(1);
  const each = (p, i = 0) => (tree.has(`${p}/${i}`) ? [`${p}/${i}`, ...each(p, i + 1)] : []);
  const codes = (p) => JSON.stringify([...new Set(each(p + "/warnings").map(text))].sort());
  optional = [...optional, ...each(w + "/optional").map(text)];
  ignore = [...ignore, ...each(w + "/ignore").map(text)];
  const [kind, failed, message] = [w + "/error/kind", g + "/error/kind", w + "/message"].map(text);
  const b = g + "/value";
  const up = (p) => p.slice(0, Math.max(0, p.lastIndexOf("/")));
  const below = (root) => [...tree.keys()].filter((p) => (p + "/").startsWith(root + "/")).map((p) => p.slice(root.length));
  // p is compared, and all above it is there on both sides.
  const reached = (a, p) => !ignore.includes(p) && !(optional.includes(p) && !tree.has(b + p)) &&
    (p === "" || (norm(a + up(p)) === norm(b + up(p)) && reached(a, up(p))));
  const bad = [];
  const report = (p, differs) => differs && bad.push(p);
  report("/error", (norm(w + "/error") === "null" && failed) || (kind && !failed));
  report("/error/kind", kind && failed && kind !== failed);
  report("/error/message", message && message !== text(g + "/error/message"));
  report("/warnings", tree.has(w + "/warnings") && codes(w) !== codes(g));
  const [bytes, absent, present, same, contains, lacks] = ["bytes", "absent", "present", "same", "contains", "lacks"].map((key) => each(`${w}/${key}`));
  if (kind || !tree.has(b)) {
    const asked = tree.has(w + "/value") || tree.has(w + "/has") || [bytes, absent, present, same, contains, lacks].flat().length > 0;
    report("/value", !kind && asked);
  } else {
    for (const a of [w + "/value", w + "/has"].filter((a) => tree.has(a)))
      for (const p of new Set([...below(a), ...below(b)])) {
        const asked = a.endsWith("/value") || tree.has(a + p) || norm(a + up(p)) === "["; // has lets an object have more keys
        report("/value" + p, asked && norm(a + p) !== norm(b + p) && reached(a, p));
      }
    const at = (c) => text(c + "/pointer");
    const having = (c) => below(b + at(c)).filter((q) => norm(b + at(c) + q)[0] === '"' && text(b + at(c) + q).includes(text(c + "/text")));
    for (const c of bytes) report("/value" + at(c), !tree.has(b + at(c)) || tree.get(b + at(c))[1] !== text(c + "/text"));
    for (const c of absent) report("/value" + text(c), tree.has(b + text(c)));
    const empty = (p) => ["", "null", '"'].includes(norm(p)) || (["{", "["].includes(norm(p)) && !tree.get(p)[1].slice(1, -1).trim());
    for (const c of present) report("/value" + text(c), empty(b + text(c)));
    const whole = (p) => JSON.stringify(below(p).map((q) => [q, norm(p + q)]).sort());
    for (const places of same.map((c) => each(c).map(text)))
      for (const p of places) report("/value" + p, !tree.has(b + p) || (tree.has(b + places[0]) && whole(b + p) !== whole(b + places[0])));
    for (const c of contains) report("/value" + at(c), having(c).length === 0);
    for (const c of lacks) for (const q of having(c)) report("/value" + at(c) + q, true);
  }
  const found = each(w + "/any_of").map((c) => match(tree, c, g, optional, ignore));
  return [...bad, ...(found.sort((x, y) => x.length - y.length)[0] ?? [])];
}

for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const tree = new Map();
  flat(line, 0, "", tree);
  const mismatch = match(tree, "/want", "/got");
  console.log(JSON.stringify({ matches: mismatch.length === 0, mismatch }));
}
