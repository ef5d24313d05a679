#!/usr/bin/env python3
"""Runs the cases of one dialect against a program: run.py SUITE DIALECT PROGRAM [ARG...].

It reads want alone, law that binds everybody. The program says which operations
it has and answers them, one JSON object a line (`conform ops`, docs/cases.md)."""
import json
import pathlib
import subprocess
import sys

import match

suite, dialect, command = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
knows = json.loads(program.stdout.readline())["ops"]


def raw(text):
    """Every value of a JSON text in its own spelling, by pointer: numbers and bytes count."""
    tree = {}
    match.flat(text, 0, "", tree)
    return {pointer: spelled.replace("\n", " ") for pointer, (_, spelled) in tree.items()}


ran = failed = skipped = 0
for file in sorted((suite / "cases" / dialect).rglob("*.json")):
    text = file.read_text("utf-8")
    case, spelled = json.loads(text), raw(text)
    if case["op"] not in knows or "want" not in case:
        skipped += 1
        continue
    members = [f'"{key}":{spelled["/" + key]}' for key in ("dialect", "engine", "model", "profile") if key in case]
    if case["op"] == "request" and "request" not in case["input"]:
        members.append('"request":' + spelled["/input"])
    else:
        members += [f'{json.dumps(key)}:{spelled["/input/" + key]}' for key in case["input"]]
    program.stdin.write(f'{{"id":{spelled["/id"]},"op":"{case["op"]}","input":{{{",".join(members)}}}}}\n')
    program.stdin.flush()
    answer = raw(program.stdout.readline())
    ran += 1
    if "/output" not in answer:
        wrong = [answer.get("/error", "no answer")]
    else:
        tree = {}
        match.flat(f'{{"want":{spelled["/want"]},"got":{answer["/output"]}}}', 0, "", tree)
        wrong = match.match(tree, "/want", "/got")
    if wrong:
        failed += 1
        print(f"{case['id']} ({case['level']}, {case['rule']}): {', '.join(wrong)}")
program.stdin.close()
print(f"{ran} cases of {dialect}, {failed} not met, {skipped} without want or with an operation that the program has not")
sys.exit(1 if failed or not ran or program.wait() else 0)
