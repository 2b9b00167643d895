/* Points with many values each: an axis for every column, a line for every point. Ranges (dragged on an axis, or typed) choose
   points, which the table below lists. */
(function () {
  "use strict";
  var LISTED = 200, HEIGHT = 300, TOP = 30, FOOT = 22;
  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
  function make(name, attributes, text) {
    var e = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (k) { e.setAttribute(k, attributes[k]); });
    if (text !== undefined) e.textContent = text;
    return e;
  }
  function shown(column, value) {
    if (value === null) return "\u2013";
    if (column.levels) return column.levels[value];
    return String(Number(value.toPrecision(4)));
  }
  /* As people read it: seconds, joules and watts with a prefix. */
  function read(column, value) {
    if (value === null || column.levels || !/^[sJW]$/.test(column.unit) || value === 0) return shown(column, value);
    var power = Math.max(-4, Math.min(4, Math.floor(Math.log10(Math.abs(value)) / 3)));
    return Number((value / Math.pow(1000, power)).toPrecision(4)) + " " + ["p", "n", "\u00b5", "m", "", "k", "M", "G", "T"][power + 4] + column.unit;
  }
  /* Text of others never begins as a formula does. */
  function csvCell(text) {
    text = /^[=+\-@\t\r]/.test(text) && isNaN(text) ? "'" + text : text;
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  function Brush(figure) {
    var columns = JSON.parse(figure.querySelector("script").textContent).columns, count = columns.length ? columns[0].data.length : 0;
    var canvas = figure.querySelector("canvas"), say = figure.querySelector("[role=status]"), body = figure.querySelector("tbody");
    var range = columns.map(function () { return null; }), chosen = [], dragged = null, field = [];
    columns.forEach(function (c) {
      var known = c.data.filter(function (v) { return v !== null; });
      c.low = known.reduce(function (a, b) { return Math.min(a, b); }, Infinity);
      c.high = known.reduce(function (a, b) { return Math.max(a, b); }, -Infinity);
      c.log = !c.levels && c.low > 0 && c.high > 20 * c.low;
    });
    function part(c, v) {
      if (c.high === c.low) return 0.5;
      return c.log ? Math.log(v / c.low) / Math.log(c.high / c.low) : (v - c.low) / (c.high - c.low);
    }
    function value(c, p) {
      p = Math.min(1, Math.max(0, p));
      return c.log ? c.low * Math.pow(c.high / c.low, p) : c.low + p * (c.high - c.low);
    }
    function x(i) { return columns.length < 2 ? canvas.clientWidth / 2 : 40 + i * (canvas.clientWidth - 80) / (columns.length - 1); }
    function y(c, v) { return HEIGHT - FOOT - part(c, v) * (HEIGHT - TOP - FOOT); }
    function inside(row) {
      return range.every(function (r, i) {
        var v = columns[i].data[row];
        return !r || (v !== null && v >= r[0] && v <= r[1]);
      });
    }
    function line(g, row) {
      g.beginPath();
      columns.forEach(function (c, i) {
        var v = c.data[row];
        if (v !== null) g.lineTo(x(i), y(c, v));
      });
      g.stroke();
    }
    function draw() {
      var scale = window.devicePixelRatio || 1, g = canvas.getContext("2d"), row;
      canvas.width = canvas.clientWidth * scale;
      canvas.height = HEIGHT * scale;
      g.setTransform(scale, 0, 0, scale, 0, 0);
      g.clearRect(0, 0, canvas.clientWidth, HEIGHT);
      g.lineWidth = 1;
      g.strokeStyle = colour("--line");
      g.globalAlpha = 0.5;
      if (chosen.length < count) for (row = 0; row < count; row += Math.ceil(count / 2000)) line(g, row);
      g.strokeStyle = colour("--c0");
      g.globalAlpha = Math.max(0.06, Math.min(0.8, 60 / Math.max(1, chosen.length)));
      chosen.forEach(function (r) { line(g, r); });
      g.globalAlpha = 1;
      g.font = "12px system-ui, sans-serif";
      columns.forEach(function (c, i) {
        var align = i === 0 ? "left" : i === columns.length - 1 ? "right" : "center", at = i === 0 ? 4 : i === columns.length - 1 ? canvas.clientWidth - 4 : x(i);
        g.strokeStyle = colour("--soft");
        g.strokeRect(x(i), TOP, 0, HEIGHT - TOP - FOOT);
        if (range[i]) {
          g.fillStyle = colour("--c1");
          g.globalAlpha = 0.45;
          g.fillRect(x(i) - 6, y(c, range[i][1]) - 1, 12, y(c, range[i][0]) - y(c, range[i][1]) + 2);
          g.globalAlpha = 1;
        }
        g.textAlign = align;
        g.fillStyle = colour("--ink");
        g.fillText(c.name, at, 10);
        g.fillStyle = colour("--soft");
        g.fillText(read(c, c.high), at, 24);
        g.fillText(read(c, c.low), at, HEIGHT - 8);
      });
    }
    function list() {
      body.textContent = "";
      chosen.slice(0, LISTED).forEach(function (r) {
        var row = body.insertRow();
        columns.forEach(function (c) {
          var cell = row.insertCell();
          cell.textContent = read(c, c.data[r]);
          if (!c.levels) cell.className = "n";
        });
      });
      say.textContent = chosen.length + " of " + count + " points" + (chosen.length > LISTED ? "; the first " + LISTED + " are listed" : "");
    }
    function choose() {
      chosen = [];
      for (var r = 0; r < count; r++) if (inside(r)) chosen.push(r);
      draw();
      list();
    }
    function fields() {
      field.forEach(function (f, i) {
        var r = range[i];
        if (columns[i].levels) f[0].value = r && r[0] === r[1] ? r[0] : "";
        else { f[0].value = r ? shown(columns[i], r[0]) : ""; f[1].value = r ? shown(columns[i], r[1]) : ""; }
      });
    }
    function typed(i) {
      var c = columns[i], f = field[i];
      if (c.levels) range[i] = f[0].value === "" ? null : [Number(f[0].value), Number(f[0].value)];
      else range[i] = f[0].value === "" && f[1].value === "" ? null : [f[0].value === "" ? -Infinity : Number(f[0].value), f[1].value === "" ? Infinity : Number(f[1].value)];
      if (range[i]) range[i] = [Math.max(range[i][0], c.low), Math.min(range[i][1], c.high)];
      choose();
    }
    var form = make("form", {"class": "ranges"});
    columns.forEach(function (c, i) {
      var set = make("fieldset"), inputs;
      set.appendChild(make("legend", {}, c.name + (c.unit ? " [" + c.unit + "]" : "")));
      if (c.levels) {
        inputs = [make("select", {"aria-label": c.name})];
        inputs[0].appendChild(make("option", {value: ""}, "any"));
        c.levels.forEach(function (l, k) { inputs[0].appendChild(make("option", {value: k}, l)); });
      } else {
        inputs = ["least", "greatest"].map(function (w) { return make("input", {type: "text", inputmode: "decimal", size: 7, "aria-label": c.name + ", " + w, placeholder: shown(c, w === "least" ? c.low : c.high)}); });
      }
      inputs.forEach(function (e) { set.appendChild(e); e.addEventListener("change", function () { typed(i); }); });
      field.push(inputs);
      form.appendChild(set);
    });
    form.addEventListener("submit", function (e) { e.preventDefault(); });
    var all = make("button", {type: "button", "class": "plain"}, "All points"), save = make("button", {type: "button", "class": "plain"}, "CSV of the chosen points");
    all.addEventListener("click", function () { range = range.map(function () { return null; }); fields(); choose(); });
    save.addEventListener("click", function () {
      var text = columns.map(function (c) { return csvCell(c.name); }).join(",") + "\r\n" + chosen.map(function (r) {
        return columns.map(function (c) { var v = c.data[r]; return v === null ? "" : csvCell(c.levels ? c.levels[v] : String(v)); }).join(",");
      }).join("\r\n") + "\r\n", link = make("a", {download: "points.csv"});
      link.href = URL.createObjectURL(new Blob([text], {type: "text/csv"}));
      link.click();
      setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    });
    form.appendChild(all);
    form.appendChild(save);
    canvas.before(form);

    function axisAt(px) {
      var best = 0;
      columns.forEach(function (_, i) { if (Math.abs(x(i) - px) < Math.abs(x(best) - px)) best = i; });
      return best;
    }
    function valueAt(c, py) { return value(c, (HEIGHT - FOOT - py) / (HEIGHT - TOP - FOOT)); }
    canvas.addEventListener("pointerdown", function (e) {
      var i = axisAt(e.offsetX);
      dragged = {axis: i, from: valueAt(columns[i], e.offsetY), moved: false};
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", function (e) {
      if (!dragged) return;
      var to = valueAt(columns[dragged.axis], e.offsetY);
      dragged.moved = true;
      range[dragged.axis] = [Math.min(dragged.from, to), Math.max(dragged.from, to)];
      fields();
      choose();
    });
    canvas.addEventListener("pointerup", function () {
      if (dragged && !dragged.moved) { range[dragged.axis] = null; fields(); choose(); }
      dragged = null;
    });
    figure.classList.add("alive");
    addEventListener("resize", draw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    choose();
  }
  document.querySelectorAll("figure.brush").forEach(Brush);
})();
