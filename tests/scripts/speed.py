#!/usr/bin/env python3
"""Measures whole processes against the bars of the design, as ratios in one run.

    cargo build --release
    python3 tests/scripts/speed.py [--quick] [--data DIR] [--keep]

Needs sqlite3 and GNU time (/usr/bin/time). Each figure is the median of several runs; the two sides of a ratio alternate,
so that other load on the machine hits both. --quick leaves out the 10 M rows, the 512 files and the 18 M counter values.
Exit code 0 when every bar holds, 1 otherwise.
"""

import argparse
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = TARGET / "release" / "perfxpert"
FIXTURES = TARGET / "release" / "perfxpert-fixtures"
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("PERFXPERT_")}

rows = []


def bar(name, value, limit, unit="", more=False):
    """Notes a figure; `more` when larger is better."""
    holds = value >= limit if more else value <= limit
    rows.append((name, f"{value:.3g}{unit}", f"{'>=' if more else '<='} {limit:g}{unit}", "ok" if holds else "MISSED"))
    print(f"  {rows[-1][0]}: {rows[-1][1]} (bar {rows[-1][2]}) {rows[-1][3]}", flush=True)


def timed(command, **kwargs):
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=CLEAN, **kwargs)
    return time.perf_counter() - started


def alternate(runs, *commands):
    """Median seconds of each command, run in turn."""
    taken = [[] for _ in commands]
    for command in commands:
        timed(command)
    for _ in range(runs):
        for index, command in enumerate(commands):
            taken[index].append(timed(command))
    return [statistics.median(one) for one in taken]


def peak_kib(command):
    """Peak resident memory of a process and its children, KiB: the largest of them."""
    with tempfile.NamedTemporaryFile("r") as out:
        subprocess.run(
            ["/usr/bin/time", "-v", "-o", out.name, *command],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=CLEAN,
        )
        return int(re.search(r"Maximum resident set size \(kbytes\): (\d+)", out.read()).group(1))


def make(folder, name, *options):
    """A generated trace, kept between runs of this script."""
    path = folder / f"{'_'.join([name, *[o.strip('-') for o in options]])}"
    if not path.exists():
        print(f"  making {path.name}", flush=True)
        part = folder / (path.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        subprocess.run([FIXTURES, "write", name, "-o", part, *options], check=True, stdout=subprocess.DEVNULL)
        part.rename(path)
    return sorted(path.rglob("*.db"))


def suffix(database):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return connection.execute("SELECT value FROM rocpd_metadata WHERE tag='uuid'").fetchone()[0]


def analyze(database):
    paths = database if isinstance(database, list) else [database]
    return [str(PROGRAM), "analyze", "-i", *map(str, paths), "--format", "json", "-o", "-"]


class Session:
    """A server over pipes."""

    def __init__(self):
        self.process = subprocess.Popen(
            [PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**CLEAN, "PERFXPERT_TOOL_TIMEOUT_S": "3600"},
        )
        self.number = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "speed", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write((json.dumps(message) + "\n").encode())
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number:
                return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def server():
    print("server")
    cold = []
    for _ in range(15):
        started = time.perf_counter()
        session = Session()
        session.ask("tools/list", {})
        cold.append(time.perf_counter() - started)
        session.close()
    bar("cold initialize + tools/list, ms", statistics.median(cold) * 1e3, 50)
    session = Session()
    calls = []
    for _ in range(500):
        started = time.perf_counter()
        session.ask("tools/call", {"name": "arch.lookup_peaks", "arguments": {"gfx_id": "gfx942"}})
        calls.append(time.perf_counter() - started)
    session.close()
    bar("trivial call, ms", statistics.median(calls) * 1e3, 0.5)
    bar("release binary, MB", PROGRAM.stat().st_size / 1e6, 25)


def million(folder, runs):
    print("1 M dispatches + 1 M host calls")
    database = make(folder, "bulk", "--scale=1000000")[0]
    table = f'"rocpd_kernel_dispatch{suffix(database)}"'
    scan = ["sqlite3", str(database), f'SELECT SUM(start),SUM("end"),SUM(kernel_id) FROM (SELECT start/1024 AS start,"end"/1024 AS "end",kernel_id FROM {table})']
    view = ["sqlite3", str(database), "SELECT name,COUNT(*),SUM(duration) FROM kernels GROUP BY name"]
    ours, raw, grouped = alternate(runs, analyze(database), scan, view)
    print(f"  analyze {ours:.3f} s, raw scan {raw:.3f} s, GROUP BY over the view {grouped:.3f} s")
    bar("analyze ÷ raw scan", ours / raw, 3.0)
    bar("GROUP BY over the view ÷ analyze", grouped / ours, 3.0, more=True)
    with tempfile.TemporaryDirectory() as out:
        page = Path(out, "page")
        taken = statistics.median(timed([str(PROGRAM), "analyze", "-i", str(database), "--format", "webview", "-o", str(page)]) for _ in range(3))
        bar("webview of it, MB", Path(f"{page}.html").stat().st_size / 1e6, 5)
        print(f"  written in {taken:.3f} s")
    session = Session()
    ask = lambda: session.ask("tools/call", {"name": "agent.root", "arguments": {"database_path": str(database)}})
    ask()
    again = []
    for _ in range(5):
        started = time.perf_counter()
        ask()
        again.append(time.perf_counter() - started)
    session.close()
    bar("second question in one session, ms", statistics.median(again) * 1e3, 20)
    return database, ours


def ten_million(folder, small, seconds):
    print("10 M dispatches")
    database = make(folder, "bulk", "--scale=10000000")[0]
    one, ten = peak_kib(analyze(small)), peak_kib(analyze(database))
    taken = statistics.median(timed(analyze(database)) for _ in range(3))
    bar("peak memory, 10 M ÷ 1 M", ten / one, 1.3)
    bar("peak memory at 10 M, MB", ten / 1024, 400)
    import math
    bar("growth exponent of time, 1 M to 10 M", math.log10(taken / seconds), 1.05)


def ranks(folder, quick):
    print("ranks")
    few = make(folder, "ranks_many", "--scale=8")
    many = make(folder, "ranks_many", "--scale=64")
    eight, sixtyfour = alternate(5, analyze(few[0].parent), analyze(many[0].parent))
    bar("64 ranks ÷ 8 ranks", sixtyfour / eight, 10)
    if quick:
        return
    lots = make(folder, "ranks_many", "--scale=512")
    limited = ["bash", "-c", 'ulimit -n 256; exec "$@"', "-", *analyze(lots[0].parent)]
    bar("512 files under ulimit -n 256: peak memory, MB", peak_kib(limited) / 1024, 400)


def counters(folder):
    print("18 M counter values")
    database = make(folder, "bulk_counters", "--scale=2300000")[0]
    u = suffix(database)
    join = ["sqlite3", str(database), f'SELECT i.name,COUNT(*),SUM(p.value) FROM "rocpd_pmc_event{u}" p JOIN "rocpd_info_pmc{u}" i ON i.id=p.pmc_id GROUP BY i.id']
    ours, sql = alternate(3, analyze(database), join)
    bar("SQL join of the base tables ÷ analyze", sql / ours, 3.0, more=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "perfxpert-speed")
    options = parser.parse_args()
    for program in (PROGRAM, FIXTURES):
        if not program.exists():
            sys.exit(f"{program} is missing; run: cargo build --release --package perfxpert --package perfxpert-fixtures")
    for program in ("sqlite3", "/usr/bin/time"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is missing")
    options.data.mkdir(parents=True, exist_ok=True)
    server()
    database, seconds = million(options.data, options.runs)
    ranks(options.data, options.quick)
    if not options.quick:
        ten_million(options.data, database, seconds)
        counters(options.data)
    width = max(len(row[0]) for row in rows)
    print("\n" + "\n".join(f"{name:<{width}}  {value:>10}  {limit:<12} {word}" for name, value, limit, word in rows))
    sys.exit(any(row[3] != "ok" for row in rows))


if __name__ == "__main__":
    main()
