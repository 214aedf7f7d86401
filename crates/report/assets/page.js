// Draws the page's charts from the data beside them: hover, zoom, logarithmic axes, keyboard, and a table of the same numbers.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  // Places of a point's numbers along either axis, by how it is drawn.
  const PLACES = {
    line: [[0], [1]], marked: [[0], [1]], spaced: [[0], [1]], marks: [[0], [1]], "at-least": [[0], [1]], "at-most": [[0], [1]], dots: [[0], [1]], rule: [[0], []],
    bars: [[0, 1], [2]], steps: [[0, 1], [2]], band: [[0], [1, 2]], strokes: [[0, 2], [1, 3]], cells: [[0, 1], [2, 3]],
  };
  const ROW = 34, PRINTED_ROW = 24, STACKED_ROW = 50, NEAR = 48;
  // Axes show numbers up to here, and logarithmic ones down to its inverse: room is added to them, and nothing overflows. Ticks are few.
  const FAR = 1e299, MOST_TICKS = 100;

  const add = (parent, name, attributes = {}, text) => {
    const element = parent.namespaceURI === SVG || name === "svg"
      ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const raised = (n) => String(n).replace(/[-0-9]/g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻");
  const shown = (value, digits = 4) => {
    if (value === 0 || !Number.isFinite(value)) return String(value);
    const power = Math.floor(Math.log10(Math.abs(value)) + 1e-12);
    if (power >= 6 || power < -3) {
      const mantissa = Number((value / 10 ** power).toPrecision(digits));
      return mantissa === 1 ? `10${raised(power)}` : `${mantissa}·10${raised(power)}`;
    }
    const whole = Number.isInteger(value) ? value : Number(value.toPrecision(digits));
    return whole.toLocaleString("en", { maximumFractionDigits: 12 });
  };

  // The least and the largest of some values, each taken no further than the limits; in a loop, as arguments are few and values many.
  const extent = (values, least, largest) => {
    let [low, high] = [largest, least];
    for (const value of values) [low, high] = [Math.min(low, Math.max(value, least)), Math.max(high, Math.min(value, largest))];
    return [low, high];
  };
  // Ticks of a linear axis, in steps of 1, 2 or 5.
  const linearTicks = ([from, to], most) => {
    const rough = (to - from) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((m) => m * power >= rough);
    const first = Math.ceil(from / step - 1e-9), ticks = [];
    for (let i = 0; i < MOST_TICKS && (first + i) * step <= to + 1e-9 * step; i += 1) ticks.push(Number(((first + i) * step).toPrecision(12)));
    return ticks.every(Number.isFinite) ? [...new Set(ticks)] : [];
  };
  // Ticks of a logarithmic axis: powers of ten, and steps between them where there is room.
  const logTicks = ([from, to], most) => {
    const [low, high] = [Math.log10(from), Math.log10(to)];
    if (!Number.isFinite(low) || !Number.isFinite(high)) return [];
    const every = Math.max(1, Math.ceil((high - low) / most));
    const steps = high - low < most / 3 ? [1, 2, 5] : [1];
    const ticks = [];
    for (let power = Math.floor(low); power <= high; power += 1) {
      if (power % every !== 0) continue;
      for (const step of steps) {
        const tick = Number((step * 10 ** power).toPrecision(6));
        if (tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9)) ticks.push(tick);
      }
    }
    return ticks.length > 1 ? ticks : linearTicks([from, to], most);
  };

  // Places along a line at even distances: from `offset` on, and from its beginning.
  const BETWEEN_MARKS = 110;
  const spaced = (line, offset) => {
    const places = [];
    let next = offset;
    for (let i = 1; i < line.length; i += 1) {
      const [[x, y], [u, v]] = [line[i - 1], line[i]], long = Math.hypot(u - x, v - y);
      for (; long > 0 && next <= long; next += BETWEEN_MARKS) places.push([x + (u - x) * next / long, y + (v - y) * next / long]);
      next -= long;
    }
    return places;
  };
  const along = (line) => line.slice(1).flatMap(([u, v], i) => {
    const [x, y] = line[i], parts = Math.min(200, Math.max(1, Math.ceil(Math.hypot(u - x, v - y) / 14)));
    return Array.from({ length: parts + 1 }, (_, part) => [x + (part / parts) * (u - x), y + (part / parts) * (v - y)]);
  });

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.log = { x: this.data.x.log, y: this.data.y.log };
      this.view = { x: null, y: null };
      this.hidden = new Set();
      this.at = null;
      this.rows = this.data.y.rows ?? null;
      if (this.rows) figure.classList.add("rows");
      this.tools();
      this.legend();
      const name = `${this.data.title}. ${this.data.caption}`;
      this.svg = add(figure, "svg", { class: "plot", role: "img", tabindex: "0", "aria-label": name, "aria-describedby": `help-${figure.id}` });
      this.tip = add(figure, "div", { class: "tip", hidden: "" });
      this.live = add(figure, "p", { class: "hidden", role: "status" });
      add(figure, "p", { class: "hidden", id: `help-${figure.id}` },
        "Arrow keys move along the points, plus and minus zoom, zero resets, x and y switch the axes between linear and logarithmic.");
      this.numbers();
      this.listen();
      // Drawing changes heights, which may bring a scroll bar and so another width: not before the next frame.
      new ResizeObserver(() => requestAnimationFrame(() => { if (figure.clientWidth !== this.width) this.draw(); })).observe(figure);
      this.draw();
    }

    tools() {
      const bar = add(this.figure, "div", { class: "tools", role: "group", "aria-label": `Tools of the chart ${this.data.title}` });
      const button = (text, does, label) => {
        const made = add(bar, "button", { type: "button", "aria-label": label ?? text }, text);
        made.addEventListener("click", does);
        return made;
      };
      this.toggles = {};
      for (const axis of this.rows ? ["x"] : ["x", "y"]) {
        if (this.data[axis].linear || this.values(axis).some((value) => value < 0) || !this.values(axis).some((value) => value > 0)) continue;
        const what = this.data[axis].label;
        this.toggles[axis] = button(this.rows ? "log axis" : `log ${axis}`, () => this.toggle(axis), `logarithmic axis: ${what}`);
        this.toggles[axis].classList.add(`log-${axis}`);
      }
      button("+", () => this.zoom(0.5), "zoom in").classList.add("zoom-in");
      button("−", () => this.zoom(2), "zoom out").classList.add("zoom-out");
      button("reset", () => this.reset(), "show everything").classList.add("reset");
    }

    legend() {
      const list = add(this.figure, "div", { class: "legend", role: "group", "aria-label": "What is drawn" });
      this.data.series.forEach((series, i) => {
        const button = add(list, "button", { type: "button", "aria-pressed": "true" });
        const key = add(button, "svg", { class: "key", width: "22", height: "14", role: "img", "aria-label": "mark of" });
        this.key(key, series);
        add(button, "span", {}, series.name);
        button.addEventListener("click", () => {
          if (!this.hidden.delete(i)) this.hidden.add(i);
          button.setAttribute("aria-pressed", String(!this.hidden.has(i)));
          this.forget();
          this.draw();
        });
      });
    }

    key(parent, series) {
      const group = add(parent, "g", { class: series.role });
      if (["line", "marked", "spaced", "rule", "strokes"].includes(series.draw)) this.stroke(group, series, "M1 7H21");
      if (["bars", "cells", "steps", "band"].includes(series.draw)) {
        add(group, "rect", { class: ["bars", "cells"].includes(series.draw) ? "fill" : "region", x: 2, y: 3, width: 18, height: 8 });
        if (series.draw === "steps") this.stroke(group, series, "M2 3H20");
      }
      if (series.draw === "dots") add(group, "circle", { class: "fill", cx: 11, cy: 7, r: 3 });
      const middle = { "at-least": 5, "at-most": 17 }[series.draw] ?? 11;
      if (["marked", "spaced", "marks", "at-least", "at-most"].includes(series.draw)) this.mark(group, series, middle, 7, 0.8);
    }

    stroke(parent, series, d) { return add(parent, "path", { class: "stroke", "stroke-dasharray": series.dash ?? "", d }); }

    mark(parent, series, x, y, size = 1) {
      const arrow = { "at-least": "h16m-4 -4l4 4l-4 4", "at-most": "h-16m4 -4l-4 4l4 4" }[series.draw];
      if (arrow) add(parent, "path", { class: "stroke", d: `M${x} ${y}${arrow}` });
      const transform = `translate(${x} ${y}) scale(${size})`;
      add(parent, "path", { class: series.role === "raw" ? "ring" : "fill halo", d: `M0 0${series.mark}`, transform });
    }

    // Every number that an axis has to show.
    values(axis) {
      return this.data.series.flatMap((series, i) => {
        const places = this.hidden.has(i) ? [] : PLACES[series.draw][axis === "x" ? 0 : 1];
        return series.points.flatMap((point) => places.map((place) => point[place]));
      });
    }

    whole(axis) {
      const { from, to, ends, log } = this.data[axis];
      // Charts beside each other share their ends.
      if (ends && Boolean(log) === this.log[axis]) return ends;
      let values = this.values(axis).filter(Number.isFinite);
      if (this.log[axis]) {
        values = values.filter((value) => value > 0);
        if (!values.length) return [1, 10];
        const counts = axis === "y" && this.data.series.some((series) => series.draw === "steps");
        const [least, high] = extent(values, 1 / FAR, FAR), low = counts ? 0.7 : Math.max(least, from ?? 0);
        if (high <= low * 1.01) return [low / 2, low * 2];
        const [start, end] = [Math.log10(low), Math.log10(high)], wide = end - start;
        return [10 ** Math.max(-300, start - 0.03 * wide), 10 ** Math.min(300, end + 0.05 * wide)];
      }
      if (!values.length) return [0, 1];
      let [low, high] = extent(values, -FAR, FAR);
      [low, high] = [Math.min(from ?? low, low), Math.max(to ?? high, high)];
      if (this.data.series.some((series) => series.draw === "steps") && axis === "y") low = 0;
      if (high <= low) high = low + (Math.abs(low) || 1);
      const room = 0.05 * (high - low);
      return [from !== undefined || low === 0 ? low : low - room, to !== undefined && high <= to ? high : high + room];
    }

    domain(axis) { return this.view[axis] ?? this.whole(axis); }

    scale(axis) {
      const [from, to] = this.domain(axis), [start, end] = axis === "x" ? [this.left, this.right] : [this.bottom, this.top];
      const place = this.log[axis] ? (value) => (value > 0 ? Math.log10(value) : -Infinity) : (value) => value;
      const [low, high] = [place(from), place(to)];
      return (value) => Math.max(-1e5, Math.min(1e5, start + (end - start) * (place(value) - low) / (high - low)));
    }

    unscale(axis, pixel) {
      const [from, to] = this.domain(axis), [start, end] = axis === "x" ? [this.left, this.right] : [this.bottom, this.top];
      const share = (pixel - start) / (end - start);
      return this.log[axis] ? from ** (1 - share) * to ** share : from + (to - from) * share;
    }

    draw(wanted = this.figure.clientWidth, printed = false) {
      this.width = wanted;
      const width = Math.max(280, this.width);
      this.svg.replaceChildren();
      const labels = (this.rows ?? []).map((row) => add(this.svg, "text", { class: "row" }, row));
      const longest = labels.reduce((most, label) => Math.max(most, label.getComputedTextLength()), 0);
      this.stacked = longest > 0.36 * width;
      this.step = this.stacked ? STACKED_ROW : printed ? PRINTED_ROW : ROW;
      const high = printed ? 210 : Math.round(Math.max(280, Math.min(390, 0.72 * width)));
      const height = this.rows ? this.rows.length * this.step + 52 : high;
      [this.left, this.right] = [this.rows ? (this.stacked ? 12 : longest + 18) : 62, width - 16];
      [this.top, this.bottom] = [8, height - 44];
      this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.x = this.scale("x");
      this.y = this.rows ? (row) => this.top + (row + 0.5) * this.step + (this.stacked ? 9 : 0) : this.scale("y");
      this.axes(labels);
      const clip = add(add(this.svg, "clipPath", { id: `clip-${this.figure.id}` }), "rect", {
        x: this.left - 7, y: this.top - 2, width: this.right - this.left + 14, height: this.bottom - this.top + 4 });
      this.content = add(this.svg, "g", { "clip-path": `url(#${clip.parentNode.id})` });
      this.items = [];
      this.data.series.forEach((series, i) => { if (!this.hidden.has(i)) this.series(series, i); });
      this.names();
      for (const [axis, button] of Object.entries(this.toggles)) button.setAttribute("aria-pressed", String(this.log[axis]));
      if (this.at !== null) this.point(this.items[this.at] ? this.at : null);
    }

    axes(labels) {
      const room = { x: Math.max(2, Math.floor((this.right - this.left) / 72)), y: 6 };
      for (const axis of ["x", "y"]) {
        if (axis === "y" && this.rows) continue;
        const ticks = (this.log[axis] ? logTicks : linearTicks)(this.domain(axis), room[axis]);
        for (const tick of ticks) {
          const at = this[axis](tick);
          if (axis === "x") {
            add(this.svg, "path", { class: "grid", d: `M${at} ${this.top}V${this.bottom}` });
            add(this.svg, "text", { x: at, y: this.bottom + 17, "text-anchor": "middle" }, shown(tick));
          } else {
            add(this.svg, "path", { class: "grid", d: `M${this.left} ${at}H${this.right}` });
            add(this.svg, "text", { x: this.left - 7, y: at + 4, "text-anchor": "end" }, shown(tick));
          }
        }
      }
      labels.forEach((label, i) => {
        if (i > 0) add(this.svg, "path", { class: "grid", d: `M${this.left} ${this.top + i * this.step}H${this.right}` });
        label.setAttribute("x", this.stacked ? this.left : this.left - 12);
        label.setAttribute("y", this.stacked ? this.top + i * this.step + 15 : this.y(i) + 5);
        label.setAttribute("text-anchor", this.stacked ? "start" : "end");
        this.svg.append(label);
      });
      add(this.svg, "path", { class: "axis", fill: "none", d: `M${this.left} ${this.bottom}H${this.right}` });
      const middle = (this.left + this.right) / 2;
      add(this.svg, "text", { x: middle, y: this.bottom + 36, "text-anchor": "middle" }, this.data.x.label);
      if (!this.rows) {
        const [x, y] = [13, (this.top + this.bottom) / 2];
        add(this.svg, "text", { x, y, "text-anchor": "middle", transform: `rotate(-90 ${x} ${y})` }, this.data.y.label);
      }
    }

    series(series, i) {
      const group = add(this.content, "g", { class: series.role, "data-series": series.name });
      const { x, y } = this;
      const item = (point, j, px, py, more) => this.items.push({ series: i, index: j, px, py, ...more });
      const line = (u, v) => this.path(series.points.map((point) => [x(point[u]), y(point[v])]));
      switch (series.draw) {
        case "line": case "marked": this.stroke(group, series, line(0, 1)); break;
        case "spaced": {
          this.stroke(group, series, line(0, 1));
          const seen = series.points.map(([u, v]) => [x(u), y(v)]).filter((place) => this.holds(place));
          for (const [px, py] of spaced(seen, BETWEEN_MARKS * ((0.5 + i / this.data.series.length) % 1))) this.mark(group, { ...series, draw: "marks" }, px, py, 0.9);
          break;
        }
        case "band": {
          const back = [...series.points].reverse().map(([u, , w]) => [x(u), y(w)]);
          add(group, "path", { class: "region", d: line(0, 1) + this.path(back).replace("M", "L") });
          return;
        }
        case "steps": {
          const tops = series.points.flatMap(([u, w, n]) => [[x(u), Math.min(y(n), this.bottom)], [x(w), Math.min(y(n), this.bottom)]]);
          const [first, last] = [tops[0], tops[tops.length - 1]];
          add(group, "path", { class: "region", d: `${this.path(tops)}L${last[0]} ${this.bottom}L${first[0]} ${this.bottom}Z` });
          this.stroke(group, series, this.path(tops));
        }
      }
      const most = series.draw === "cells" ? extent(series.points.map((point) => point[4]), 0, FAR)[1] : 1;
      series.points.forEach((point, j) => {
        const [u, v] = point;
        switch (series.draw) {
          case "line": case "spaced": item(point, j, x(u), y(v)); break;
          case "steps": item(point, j, (x(u) + x(v)) / 2, Math.min(y(point[2]), this.bottom), { from: x(u), to: x(v) }); break;
          case "rule": this.stroke(group, series, `M${x(u)} ${this.top}V${this.bottom}`); item(point, j, x(u), this.top + 12); break;
          case "strokes": this.stroke(group, series, `M${x(u)} ${y(v)}L${x(point[2])} ${y(point[3])}`); break;
          case "dots": add(group, "circle", { class: "fill", cx: x(u), cy: y(v), r: series.points.length > 200 ? 1.5 : 4 });
            item(point, j, x(u), y(v)); break;
          case "bars": {
            const [from, to, at] = [Math.max(x(u), this.left), x(v), y(point[2])];
            const wide = v > 0 ? Math.max(to - from, 5) : 0;
            add(group, "rect", { class: "fill", x: (from + to - wide) / 2, y: at - 6, width: wide, height: 12, rx: 2 });
            item(point, j, (from + to) / 2, at, { from, to });
            break;
          }
          case "cells": {
            const [top, bottom] = extent([y(point[2]), y(point[3])], -FAR, FAR), [left, right] = [x(u), x(v)];
            add(group, "rect", { class: "fill", x: left, y: top, width: right - left, height: bottom - top, "fill-opacity": point[4] / most });
            const [px, py] = [(left + right) / 2, (top + bottom) / 2];
            if (series.labels) add(group, "text", { class: "cell", x: px, y: py + 4, "text-anchor": "middle" }, series.labels[j]);
            item(point, j, px, py, { from: left, to: right });
            break;
          }
          default: {
            const px = series.draw === "marked" ? x(u) : Math.max(x(u), this.left);
            this.mark(group, series, px, y(v), series.draw === "marked" ? 0.8 : 1);
            item(point, j, px, y(v));
          }
        }
      });
    }

    holds([px, py]) { return px >= this.left && px <= this.right && py >= this.top && py <= this.bottom; }

    // Names at lines, each where its line is far from the others.
    names() {
      const lines = this.data.series.filter((series, i) => !this.hidden.has(i) && ["line", "marked", "spaced"].includes(series.draw));
      if (lines.length < 2 || this.rows) return;
      const places = lines.map(({ points }) => along(points.map(([u, v]) => [this.x(u), this.y(v)])).filter((place) => this.holds(place)));
      const taken = [];
      lines.forEach((line, i) => {
        const text = add(this.svg, "text", { class: `name ${line.role}` }, line.name);
        const most = 0.55 * (this.right - this.left);
        for (let name = line.name; name && text.getComputedTextLength() > most;) text.textContent = `${(name = name.slice(0, -1)).trimEnd()}…`;
        const wide = text.getComputedTextLength(), high = 14, gap = 5;
        let [best, most_alone] = [null, -1];
        for (const [px, py] of places[i]) {
          for (const [right, down] of [[gap, -gap - high], [gap, gap], [-gap - wide, -gap - high], [-gap - wide, gap]]) {
            const frame = [px + right, py + down, px + right + wide, py + down + high];
            if (!this.holds(frame.slice(0, 2)) || !this.holds(frame.slice(2))) continue;
            if (taken.some((other) => frame[0] < other[2] && other[0] < frame[2] && frame[1] < other[3] && other[1] < frame[3])) continue;
            const middle = [(frame[0] + frame[2]) / 2, (frame[1] + frame[3]) / 2];
            let alone = 60, crossed = false;
            places.forEach((other, j) => other.forEach(([u, v]) => {
              crossed ||= u > frame[0] - 2 && u < frame[2] + 2 && v > frame[1] - 2 && v < frame[3] + 2;
              if (j !== i) alone = Math.min(alone, Math.hypot(u - middle[0], v - middle[1]));
            }));
            if (!crossed && alone > most_alone) [best, most_alone] = [frame, alone];
          }
        }
        if (!best) { text.remove(); return; }
        taken.push(best);
        text.setAttribute("x", best[0]);
        text.setAttribute("y", best[3] - 3);
      });
    }

    path(points) { return points.map(([u, v], i) => `${i ? "L" : "M"}${u.toFixed(1)} ${v.toFixed(1)}`).join(""); }

    // What a point says: of which series, at which place.
    told({ series: i, index: j }) {
      const series = this.data.series[i], point = series.points[j], label = series.labels?.[j];
      const [xs, ys] = PLACES[series.draw].map((places) => places.map((place) => point[place]));
      const range = ([from, to]) => (from === undefined ? "" : to === undefined || to === from ? shown(from) : `${shown(from)} to ${shown(to)}`);
      const value = series.draw === "cells" ? `${range(ys)}: ${shown(point[4])}` : range(ys);
      if (this.rows) return { name: series.name, x: label ?? range(xs), y: this.rows[Math.round((ys[0] + ys[ys.length - 1]) / 2)] };
      return xs.length > 1 || series.draw === "rule" ? { name: series.name, x: label ?? range(xs), y: value } : { name: series.name, x: range(xs), y: label ?? value };
    }

    lines(item) {
      const told = this.told(item), { x, y } = this.data;
      if (this.rows) return [told.y, `${told.name}${told.name.includes(":") ? "" : ":"} ${told.x}`];
      if (this.data.series[item.series].draw === "steps") {
        const same = this.items.filter((other) => this.data.series[other.series].draw === "steps" && other.index === item.index);
        return [`${x.label}: ${told.x}`, ...same.map((other) => `${this.told(other).name}: ${this.told(other).y}`)];
      }
      return [told.name, `${x.label}: ${told.x}`, ...(told.y === "" ? [] : [`${y.label}: ${told.y}`])];
    }

    nearest(px, py) {
      let [best, least] = [null, NEAR ** 2];
      this.items.forEach((item, i) => {
        if (item.px < this.left - 8 || item.px > this.right + 8 || item.py < this.top - 8 || item.py > this.bottom + 8) return;
        const steps = this.data.series[item.series].draw === "steps", rule = this.data.series[item.series].draw === "rule";
        const dx = item.from === undefined ? px - item.px : Math.max(item.from - px, 0, px - item.to);
        const dy = rule ? 0 : (py - item.py) * (steps ? 0.15 : 1);
        const distance = (dx * dx + dy * dy) * (rule ? 9 : 1);
        if (distance < least) [best, least] = [i, distance];
      });
      return best;
    }

    point(i, speak = false) {
      this.at = i;
      this.svg.querySelector(".cursor")?.remove();
      this.tip.hidden = i === null;
      if (i === null) return;
      const item = this.items[i], lines = this.lines(item);
      this.tip.replaceChildren();
      lines.forEach((line, j) => add(this.tip, j ? "span" : "b", {}, line).after(j < lines.length - 1 && j ? document.createElement("br") : ""));
      add(this.svg, "circle", { class: "cursor", cx: item.px, cy: item.py, r: 7 });
      const ratio = this.svg.clientWidth / Math.max(280, this.width) || 1;
      const wide = this.tip.offsetWidth, high = this.tip.offsetHeight;
      const x = this.svg.getBoundingClientRect().left - this.figure.getBoundingClientRect().left + item.px * ratio;
      const y = this.svg.getBoundingClientRect().top - this.figure.getBoundingClientRect().top + item.py * ratio;
      this.tip.style.left = `${Math.max(0, Math.min(x - wide / 2, this.figure.clientWidth - wide))}px`;
      this.tip.style.top = `${y - high - 12}px`;
      if (speak) this.live.textContent = lines.join(", ");
    }

    forget() { this.point(null); }

    toggle(axis) {
      if (!this.toggles[axis]) return;
      this.log[axis] = !this.log[axis];
      this.view[axis] = null;
      this.forget();
      this.draw();
      this.live.textContent = `${this.data[axis].label}: ${this.log[axis] ? "logarithmic" : "linear"} axis`;
    }

    zoom(factor) {
      const middle = this.at === null ? null : this.items[this.at];
      for (const axis of this.rows ? ["x"] : ["x", "y"]) {
        const [start, end] = axis === "x" ? [this.left, this.right] : [this.bottom, this.top];
        const centre = middle ? middle[axis === "x" ? "px" : "py"] : (start + end) / 2;
        this.next(axis, [start, end].map((edge) => this.unscale(axis, centre + (edge - centre) * factor)));
      }
      this.forget();
      this.draw();
    }

    // Views are within the whole, and not too narrow for numbers.
    next(axis, [from, to]) {
      const [low, high] = this.whole(axis);
      if (from <= low && to >= high) { this.view[axis] = null; return; }
      const [a, b] = [Math.max(low, from), Math.min(high, to)];
      if (b - a > 1e-9 * Math.max(Math.abs(a), Math.abs(b))) this.view[axis] = [a, b];
    }

    reset() {
      this.view = { x: null, y: null };
      this.forget();
      this.draw();
    }

    place(event) {
      const box = this.svg.getBoundingClientRect(), ratio = Math.max(280, this.width) / (box.width || 1);
      return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
    }

    listen() {
      let start = null, box = null;
      this.svg.addEventListener("pointermove", (event) => {
        const [x, y] = this.place(event);
        if (!start) { this.point(this.nearest(x, y)); return; }
        box ??= add(this.svg, "rect", { class: "select" });
        const [top, bottom] = this.rows ? [this.top, this.bottom] : [Math.min(y, start[1]), Math.max(y, start[1])];
        for (const [name, value] of [["x", Math.min(x, start[0])], ["y", top], ["width", Math.abs(x - start[0])], ["height", bottom - top]])
          box.setAttribute(name, value);
      });
      this.svg.addEventListener("pointerdown", (event) => {
        if (event.pointerType === "touch" || event.button !== 0) { this.point(this.nearest(...this.place(event))); return; }
        start = this.place(event);
        this.svg.setPointerCapture(event.pointerId);
        this.forget();
      });
      this.svg.addEventListener("pointerup", (event) => {
        if (!start) return;
        const [from, to] = [start, this.place(event)];
        [start, box] = [null, (box?.remove(), null)];
        if (Math.abs(to[0] - from[0]) < 8) { this.point(this.nearest(...to)); return; }
        this.next("x", [from[0], to[0]].sort((a, b) => a - b).map((pixel) => this.unscale("x", pixel)));
        if (!this.rows && Math.abs(to[1] - from[1]) > 8)
          this.next("y", [from[1], to[1]].sort((a, b) => b - a).map((pixel) => this.unscale("y", pixel)));
        this.draw();
      });
      this.svg.addEventListener("pointercancel", () => { [start, box] = [null, (box?.remove(), null)]; });
      this.svg.addEventListener("pointerleave", () => { if (!start) this.forget(); });
      this.svg.addEventListener("dblclick", () => this.reset());
      this.svg.addEventListener("blur", () => this.forget());
      this.svg.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const does = {
          ArrowRight: () => this.move(1), ArrowLeft: () => this.move(-1), ArrowUp: () => this.change(-1), ArrowDown: () => this.change(1),
          "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.reset(), Escape: () => this.forget(),
          x: () => this.toggle("x"), y: () => this.toggle("y"),
        }[event.key];
        if (does) { does(); event.preventDefault(); }
      });
    }

    // The next point of the same series, and of the next one where it ends.
    move(by) {
      if (this.items.length) this.point(this.at === null ? 0 : (this.at + by + this.items.length) % this.items.length, true);
    }

    // The nearest point of another series.
    change(by) {
      if (this.at === null) { this.move(0); return; }
      const here = this.items[this.at], kinds = [...new Set(this.items.map((item) => item.series))];
      const other = kinds[(kinds.indexOf(here.series) + by + kinds.length) % kinds.length];
      let best = null;
      this.items.forEach((item, i) => {
        if (item.series !== other) return;
        if (best === null || Math.abs(item.px - here.px) < Math.abs(this.items[best].px - here.px)) best = i;
      });
      this.point(best, true);
    }

    // The table of the same numbers, made when it is opened.
    numbers() {
      const details = add(this.figure, "details", { class: "numbers" });
      add(details, "summary", {}, "The numbers");
      details.addEventListener("toggle", () => {
        if (!details.open || details.querySelector("table")) return;
        const frame = add(details, "div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `The numbers of ${this.data.title}` });
        const table = add(frame, "table");
        add(table, "caption", { class: "hidden" }, this.data.title);
        const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
        const names = this.rows ? ["row", "what", this.data.x.label] : ["what", this.data.x.label, this.data.y.label];
        for (const name of names) add(head, "th", { scope: "col" }, name);
        this.data.series.forEach((series, i) => series.points.forEach((_, j) => {
          const told = this.told({ series: i, index: j }), row = add(body, "tr");
          const cells = this.rows ? [told.y, told.name, told.x] : [told.name, told.x, told.y];
          add(row, "th", { scope: "row" }, cells[0]);
          for (const cell of cells.slice(1)) add(row, "td", {}, cell);
        }));
      });
    }
  }

  // A chart that cannot be drawn says so, and leaves the others alone.
  const charts = [...document.querySelectorAll("figure.chart")].flatMap((figure) => {
    try {
      return [new Chart(figure)];
    } catch {
      for (const part of figure.querySelectorAll("svg.plot, .tools, .legend, .tip, .numbers")) part.remove();
      add(figure, "p", {}, "This chart cannot be drawn.");
      return [];
    }
  });
  // Two columns on paper, in letters of the size that the page has.
  window.addEventListener("beforeprint", () => charts.forEach((chart) => { chart.forget(); chart.draw(chart.rows ? 680 : 325, true); }));
  window.addEventListener("afterprint", () => charts.forEach((chart) => chart.draw()));

  for (const button of document.querySelectorAll("button.copy")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentNode.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
})();
