"""Draws the figures of the README and the guide into docs/src/images, each once for light pages and once for dark ones.

usage: python3 docs/figures.py [PROGRAM]      PROGRAM is misdeal, if it is not in PATH; needs nothing else

- claims: `misdeal check examples/cards/*.toml --plot claims.svg`, under a title of its own;
- closeness: the map of bench/runs/closeness.json, which `python3 bench/closeness.py` computes.
"""
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "src" / "images"
# Colours of misdeal's figures, and what takes their place on a dark page.
DARK = {"#ffffff": "#0d1117", "#16191d": "#e6edf3", "#545b66": "#a0a9b4", "#dfe3e8": "#30363d", "#009E73": "#1fb58a", "#D55E00": "#f0883e"}
CELL_WIDTH, CELL_HEIGHT, GAP, LEFT, TOP = 33, 22, 18, 62, 74
# From the smallest share to the largest: closer to Poisson sampling, in the middle, closer to no shuffling.
PALE, STRONG = ((0xE8, 0xF1, 0xFA), (0x0B, 0x5C, 0x9E)), ((0xFD, 0xE3, 0xCC), (0xB3, 0x3C, 0x00))


def write(name, svg):
    dark = svg
    for light, replacement in DARK.items():
        dark = dark.replace(light, replacement)
    (IMAGES / f"{name}-light.svg").write_text(svg)
    (IMAGES / f"{name}-dark.svg").write_text(dark)


def claims(program):
    cards = sorted(str(path) for path in (ROOT / "examples" / "cards").glob("*.toml"))
    with tempfile.TemporaryDirectory() as folder:
        figure = Path(folder) / "claims.svg"
        subprocess.run([program, "check", *cards, "--plot", figure, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        svg = figure.read_text()
    title = "Claimed epsilon, and what is proven if batches are shuffled"
    write("claims", svg.replace(f"{len(cards)} model cards", title))


def colour(share):
    """Blue below one half, orange above, stronger with the distance from it."""
    (pale, strong) = PALE if share <= 0.5 else STRONG
    strength = abs(share - 0.5) / 0.5
    channels = [round(low + (high - low) * strength) for low, high in zip(pale, strong)]
    return "#" + "".join(f"{channel:02x}" for channel in channels), "white" if strength > 0.55 else "black"


def text(x, y, words, size=11, fill="#545b66", anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}"{extra}>{words}</text>'


def panel(rows, epochs, left, is_first):
    here = {(row["noise_multiplier"], row["steps_per_epoch"]): row["share"] for row in rows if row["epochs"] == epochs}
    noises, steps = (sorted({key[part] for key in here}) for part in (0, 1))
    plural = "" if epochs == 1 else "s"
    parts = [text(left + len(steps) * CELL_WIDTH / 2, TOP - 12, f"{epochs} epoch{plural}", 12.5, "#16191d")]
    for row, noise in enumerate(noises):
        y = TOP + row * CELL_HEIGHT
        if is_first:
            parts.append(text(left - 6, y + 15, f"{noise:g}", anchor="end"))
        for column, count in enumerate(steps):
            x = left + column * CELL_WIDTH
            share = here[noise, count]
            fill, ink = colour(1.0 if share is None else share)
            shown = "above" if share is None else str(math.floor(100 * share))
            parts.append(f'<rect x="{x}" y="{y}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}" fill="{fill}" stroke="#ffffff" stroke-width="1"/>')
            parts.append(text(x + CELL_WIDTH / 2, y + 15, shown, 9 if share is None else 11, ink))
    bottom = TOP + len(noises) * CELL_HEIGHT
    for column, count in enumerate(steps):
        shown = f"{count // 1000}k" if count >= 1000 else str(count)
        parts.append(text(left + (column + 0.5) * CELL_WIDTH, bottom + 15, shown, 10))
    parts.append(text(left + len(steps) * CELL_WIDTH / 2, bottom + 33, "steps per epoch", 12, "#16191d"))
    return parts, len(steps) * CELL_WIDTH, bottom


def closeness():
    run = json.loads((ROOT / "bench" / "runs" / "closeness.json").read_text())
    parts, left = [], LEFT
    for epochs in sorted({row["epochs"] for row in run["rows"]}):
        drawn, width, bottom = panel(run["rows"], epochs, left, left == LEFT)
        parts += drawn
        left += width + GAP
    width, height = left - GAP + 14, bottom + 76
    middle = (TOP + bottom) / 2
    title = "How far shuffling lies from Poisson sampling (0) to no shuffling (100): at least, in percent"
    parts.append(text(width / 2, 28, title, 15, "#16191d"))
    parts.append(text(18, middle, "noise multiplier", 12, "#16191d", extra=f' transform="rotate(-90 18 {middle})"'))
    for x, fill, words in ((LEFT, colour(1)[0], "proven: closer to no shuffling"), (LEFT + 250, colour(0)[0], "not proven: may be closer to Poisson sampling")):
        parts.append(f'<rect x="{x}" y="{bottom + 50}" width="28" height="12" fill="{fill}"/>')
        parts.append(text(x + 36, bottom + 60, words, 12, "#16191d", "start"))
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="DejaVu Sans, Verdana, sans-serif">\n<title>{title}</title>\n<rect width="100%" height="100%" fill="#ffffff"/>')
    write("closeness", "\n".join([head, *parts, "</svg>\n"]))


def main():
    IMAGES.mkdir(exist_ok=True)
    closeness()
    claims(sys.argv[1] if len(sys.argv) > 1 else "misdeal")


if __name__ == "__main__":
    main()
