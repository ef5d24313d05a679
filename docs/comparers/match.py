#!/usr/bin/env python3
"""Rules: docs/matching.md. Lines of {"want","got"} in, {"matches","mismatch"} out."""
import json
import re
import sys
from itertools import count, takewhile

sys.setrecursionlimit(100000)
BLANK, TOKEN = re.compile(r"[ \t\r\n]*"), re.compile(r"[-+.0-9a-zA-Z]+")


def flat(text, i, at, tree):
    """Puts the value at text[i] and all below it into tree, by pointer: what is compared, raw text."""
    i = start = BLANK.match(text, i).end()
    if text[i] == '"':
        norm, i = json.JSONDecoder().raw_decode(text, i)
        norm = '"' + norm.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    elif text[i] in "{[":
        norm, token = text[i], -1
        i = BLANK.match(text, i + 1).end()
        while text[i] not in "}]":
            token = str(int(token) + 1) if norm == "[" else token
            if norm == "{":
                name = {}
                i = BLANK.match(text, flat(text, i, "", name)).end() + 1
                token = name[""][0][1:].replace("~", "~0").replace("/", "~1")
                for old in [p for p in tree if (p + "/").startswith(f"{at}/{token}/")]:
                    del tree[old]  # of a repeated key the last value counts
            i = BLANK.match(text, flat(text, i, f"{at}/{token}", tree)).end()
            i = BLANK.match(text, i + 1).end() if text[i] == "," else i
        i += 1
    else:
        i = TOKEN.match(text, i).end()
        norm = text[start:i]
    tree[at] = (norm, text[start:i])
    return i


def match(tree, w, g, optional=(), ignore=()):
    """w and g are where in tree the want and the output stand."""
    norm = lambda p: tree.get(p, ("", ""))[0]
    text = lambda p: norm(p)[1:]
    each = lambda p: list(takewhile(tree.__contains__, (f"{p}/{i}" for i in count())))
    codes = lambda p: {text(c) for c in each(p + "/warnings")}
    optional, ignore = [*optional, *map(text, each(w + "/optional"))], [*ignore, *map(text, each(w + "/ignore"))]
    kind, failed, message, b = text(w + "/error/kind"), text(g + "/error/kind"), text(w + "/message"), g + "/value"
    up = lambda p: p[:max(0, p.rfind("/"))]
    below = lambda root: {p[len(root):]: norm(p) for p in tree if (p + "/").startswith(root + "/")}

    def reached(a, p):  # p is compared, and all above it is there on both sides
        skip = p in ignore or (p in optional and b + p not in tree)
        return not skip and (p == "" or (norm(a + up(p)) == norm(b + up(p)) and reached(a, up(p))))

    found = [
        ("/error", (norm(w + "/error") == "null" and failed) or (kind and not failed)),
        ("/error/kind", kind and failed and kind != failed),
        ("/error/message", message and message != text(g + "/error/message")),
        ("/warnings", w + "/warnings" in tree and codes(w) != codes(g)),
    ]
    if kind or b not in tree:
        lists = ("/bytes", "/absent", "/present", "/same", "/contains", "/lacks")
        found.append(("/value", not kind and ({w + "/value", w + "/has"} & tree.keys() or any(each(w + key) for key in lists))))
    else:
        for a in (w + "/value", w + "/has"):
            asked = lambda p: a[-1] == "e" or a + p in tree or norm(a + up(p)) == "["  # has lets an object have more keys
            found += [("/value" + p, a in tree and norm(a + p) != norm(b + p) and reached(a, p) and asked(p)) for p in {**below(a), **below(b)}]
        places = lambda key: [(b + text(c + "/pointer"), text(c + "/text")) for c in each(w + key)]
        listed = lambda key: [b + text(c) for c in each(key)]
        found += [(p[len(g):], p not in tree or tree[p][1] != t) for p, t in places("/bytes")]
        found += [(p[len(g):], p in tree) for p in listed(w + "/absent")]
        filled = lambda p: norm(p) not in ("", "null", '"') and (norm(p) not in ("{", "[") or tree[p][1][1:-1].strip())
        found += [(p[len(g):], not filled(p)) for p in listed(w + "/present")]
        for group in map(listed, each(w + "/same")):
            found += [(p[len(g):], p not in tree or (group[0] in tree and below(p) != below(group[0]))) for p in group]
        having = lambda p, t: [p + q for q, n in below(p).items() if n[0] == '"' and t in n[1:]]
        found += [(p[len(g):], not having(p, t)) for p, t in places("/contains")]
        found += [(q[len(g):], True) for p, t in places("/lacks") for q in having(p, t)]
    alternatives = [match(tree, c, g, optional, ignore) for c in each(w + "/any_of")]
    return [p for p, differs in found if differs] + min(alternatives, key=len, default=[])


if __name__ == "__main__":
    for line in sys.stdin.buffer:
        found = {}
        flat(line.decode("utf-8", "replace"), 0, "", found)
        bad = match(found, "/want", "/got")
        print(json.dumps({"matches": not bad, "mismatch": bad}))
