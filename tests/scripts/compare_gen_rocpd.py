#!/usr/bin/env python3
"""Holds `perfxpert analyze --format json` against the exact account of the trace generator and against recorded traces.

Usage: compare_gen_rocpd.py PERFXPERT SHARED
SHARED holds tools/gen_rocpd.py and real/converted/*.facts.json; what is missing is printed as skipped.
"""

import json
import os
import subprocess
import sys
import tempfile


def analyze(perfxpert, paths):
    command = [perfxpert, "analyze", "-i", *paths, "--format", "json", "-o", "-", "--top-kernels", "1000", "--quiet"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{' '.join(command)}: {run.stderr}")
    return json.loads(run.stdout)


def kernels(report):
    rows = report["hotspots"]
    return {row.get("full_name", row["name"]): (row["calls"], row["total_duration_ns"]) for row in rows}


def recorded(perfxpert, folder):
    """Dispatches, kernels and their times of converted recordings."""
    faults, checked = [], 0
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if not name.endswith(".facts.json"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            facts = json.load(file)
        database = os.path.join(folder, name.removesuffix(".facts.json"))
        wanted = facts.get("kernels") or {}
        if not os.path.exists(database) or not wanted.get("dispatches"):
            continue
        report = analyze(perfxpert, [database])
        checked += 1
        flat = report["time_breakdown"]
        for what, seen, planted in [
            ("dispatches", flat["kernel_count"], wanted["dispatches"]),
            ("total_kernel_time", flat["total_kernel_time"], wanted["total_ns"]),
        ]:
            if seen != planted:
                faults.append(f"{name}: {what} {seen}, recorded {planted}")
        mine = kernels(report)
        for row in wanted.get("top5", []):
            total = row.get("total_ns", row.get("total"))
            seen = mine.get(row["name"])
            if seen is not None and total is not None and seen[1] != total:
                faults.append(f"{name}: {row['name'][:60]} {seen[1]}, recorded {total}")
    if not checked:
        print(f"skipped: no recordings in {folder}")
    return faults, checked


def generated(perfxpert, generator):
    if not os.path.exists(generator):
        print(f"skipped: {generator} is not there")
        return [], 0
    listing = subprocess.run([sys.executable, generator, "--list"], capture_output=True, text=True, check=True).stdout
    # One made for speed tests is too large to be worth its time here.
    names = [line.split()[0] for line in listing.splitlines() if line.strip() and not line.startswith("bulk")]
    faults, checked = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            out, expect = os.path.join(folder, name), os.path.join(folder, name + ".json")
            made = subprocess.run(
                [sys.executable, generator, name, "-o", out, "--expect", expect, "-q"],
                capture_output=True, text=True, check=False,
            )
            if made.returncode or not os.path.exists(expect):
                print(f"skipped: {name}: {made.stderr.strip()[:120]}")
                continue
            with open(expect, encoding="utf-8") as file:
                account = json.load(file)
            try:
                report = analyze(perfxpert, [out])
            except SystemExit as fault:
                print(f"skipped: {name}: {str(fault)[-160:]}")
                continue
            checked += 1
            faults += [f"{name}: {fault}" for fault in differences(account, report)]
    return faults, checked


def differences(account, report):
    """Totals of the generator's account that the report states differently."""
    flat, account = report["time_breakdown"], account["combined"]
    if report["execution_breakdown"] is None:
        return []
    planted = account["kernels"]
    pairs = [
        ("dispatches", flat["kernel_count"], planted["rows_valid"]),
        ("total_kernel_time", flat["total_kernel_time"], planted["total_valid_ns"]),
    ]
    mine = kernels(report)
    for name, row in planted["by_name"].items():
        valid = row.get("valid", row)
        if name in mine and valid["calls"]:
            pairs.append((name[:60], list(mine[name]), [valid["calls"], valid["total_ns"]]))
    copies = account["copies"]
    # Views drop rows whose references lead nowhere, and some traces have no views.
    if copies["rows_view"] == account["rows"]["memory_copy"]:
        pairs.append(("copies", flat["copy_count"], copies["rows_view"] - (copies["rows_invalid"] or 0)))
    return [f"{what}: {seen}, account {wanted}" for what, seen, wanted in pairs if seen != wanted]


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    perfxpert, shared = sys.argv[1:]
    faults, checked = recorded(perfxpert, os.path.join(shared, "real", "converted"))
    more, made = generated(perfxpert, os.path.join(shared, "tools", "gen_rocpd.py"))
    print(f"{checked} recordings and {made} generated traces compared, {len(faults) + len(more)} differences")
    for fault in faults + more:
        print(fault)
    return 1 if faults or more else 0


if __name__ == "__main__":
    sys.exit(main())
