"""What every benchmark here needs: the machine, the program, and a kept record of the run."""
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MISDEAL = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "misdeal"


def build():
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)


def misdeal(*arguments):
    """The JSON document that a command prints."""
    command = [str(MISDEAL), *map(str, arguments), "--format", "json", "--quiet"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return {"processor": model, "cores": os.cpu_count(), "system": platform.platform(), "load": os.getloadavg()[0]}


def commit():
    return subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def layout(record):
    """As indented JSON, with a line for each entry of lists of short records."""
    def field(name, value):
        if isinstance(value, list) and all(len(json.dumps(entry)) < 400 for entry in value):
            value = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        else:
            value = json.dumps(value, indent=1).replace("\n", "\n ")
        return f" {json.dumps(name)}: {value}"

    return "{\n" + ",\n".join(field(*item) for item in record.items()) + "\n}"


def keep(name, **results):
    """Writes bench/runs/NAME.json, with what is needed to judge and repeat the run."""
    versions = {module: sys.modules[module].__version__ for module in ("numpy", "scipy") if module in sys.modules}
    record = {
        "command": " ".join(["python3", *sys.argv]),
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "versions": {"python": platform.python_version(), **versions},
        **results,
    }
    path = ROOT / "bench" / "runs" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(layout(record) + "\n")
    print(f"kept in {path.relative_to(ROOT)}")
