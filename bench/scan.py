"""How fast `misdeal scan` reads Python, beside CPython's own parser.

usage: python3 bench/scan.py FOLDER [ROUNDS]     a folder of unpacked packages, one a subfolder, named with its version

misdeal walks the folder, parses every file, follows its data and applies all rules (--assume-private), on all cores; CPython only
parses (`ast.parse`), on one core. Bytes are those of the sources that are read; seconds are wall-clock time of whole commands, and CPU
seconds say what a busy machine hid.
"""
import ast
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import measuring


def scan(folder):
    command = [str(measuring.MISDEAL), "scan", str(folder), "--assume-private", "--format", "json", "--quiet"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    output = subprocess.run(command, capture_output=True, text=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert output.returncode in (0, 1), output.stderr
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(output.stdout), {"wall": wall, "cpu": cpu}


def cpython(folder):
    sources = [path.read_bytes() for path in folder.rglob("*.py")]
    start, parsed = time.process_time(), 0
    for source in sources:
        try:
            ast.parse(source)
        except (SyntaxError, ValueError):
            pass
        parsed += len(source)
    return parsed, time.process_time() - start


def main():
    folder = Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    measuring.build()
    reports = [scan(folder) for _ in range(rounds)]
    report = reports[0][0]
    seconds = [seconds for _, seconds in reports]
    parsed, cpython_seconds = cpython(folder)
    megabytes = report["bytes"] / 1e6
    rules = {}
    for finding in report["findings"]:
        rules[finding["rule"]] = rules.get(finding["rule"], 0) + 1
    best = min(each["wall"] for each in seconds)
    cpu = min(each["cpu"] for each in seconds)
    result = {
        "packages": sorted(entry.name for entry in folder.iterdir()),
        "files": report["files"],
        "megabytes": megabytes,
        "not_scanned": len(report["skipped"]),
        "findings": rules,
        "rounds": seconds,
        "megabytes_per_second": megabytes / best,
        "megabytes_per_cpu_second": megabytes / cpu,
        "cpython_parse_megabytes_per_cpu_second": parsed / 1e6 / cpython_seconds,
    }
    print(f"{result['files']} files, {megabytes:.1f} MB: {result['megabytes_per_second']:.1f} MB/s in the best of {rounds} rounds, "
          f"{result['megabytes_per_cpu_second']:.1f} MB per CPU second; ast.parse {result['cpython_parse_megabytes_per_cpu_second']:.1f}")
    measuring.keep("scan", **result)


main()
