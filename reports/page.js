"use strict";
(function () {
  /* A table as rows of cells: the exact value where a cell carries one, else its text. */
  function rows(table) {
    return Array.from(table.rows, function (row) {
      return Array.from(row.cells, function (cell) {
        return cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent;
      });
    });
  }
  function csv(table) {
    return rows(table).map(function (row) {
      return row.map(function (text) {
        /* Text of others never begins as a formula does. */
        text = /^[=+\-@\t\r]/.test(text) && isNaN(text) ? "'" + text : text;
        return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
      }).join(",");
    }).join("\r\n") + "\r\n";
  }
  document.querySelectorAll("button.csv").forEach(function (button) {
    button.hidden = false;
    button.addEventListener("click", function () {
      var link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csv(document.getElementById(button.dataset.table))], {type: "text/csv"}));
      link.download = button.dataset.file + ".csv";
      link.click();
      setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    });
  });
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (d) { if (!d.querySelector("table").rows[40]) d.open = true; });
  });

  /* Charts by keyboard: arrows lead from one mark to the next, Home and End to the first and the last, and a line below says what the
   * mouse would find there. */
  function teller(chart) {
    var line = document.createElement("p");
    line.className = "said";
    line.setAttribute("role", "status");
    chart.after(line);
    return line;
  }
  function byKeys(chart, count, show, leave) {
    var at = -1;
    chart.setAttribute("tabindex", "0");
    chart.setAttribute("aria-label", (chart.getAttribute("aria-label") || "chart") + ": " + count + " marks, by arrow keys");
    chart.addEventListener("keydown", function (e) {
      var to = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10, Home: 0, End: count - 1}[e.key];
      if (e.key === "Escape") chart.blur();
      if (to === undefined || e.ctrlKey || e.altKey || e.metaKey) return;
      e.preventDefault();
      at = Math.max(0, Math.min(count - 1, to));
      show(at);
    });
    chart.addEventListener("blur", leave);
  }
  document.querySelectorAll("figure .wide svg").forEach(function (svg) {
    var line, here, marks = Array.from(svg.querySelectorAll("title"), function (t) { return t.parentNode; }).filter(function (m) { return m !== svg; });
    function leave() { if (here) here.classList.remove("here"); here = null; }
    if (!marks.length) return;
    line = teller(svg);
    byKeys(svg, marks.length, function (i) {
      leave();
      here = marks[i];
      here.classList.add("here");
      line.textContent = here.querySelector("title").textContent;
    }, leave);
  });

  /* Long series: a chart to zoom into instead of the still picture, drawn from the table below it. */
  if (typeof uPlot === "undefined") return;
  var zoom = uPlot.sync("time");
  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
  function live(figure) {
    var old = figure.querySelector(".live"), still = figure.querySelector(".still");
    if (old) { old.plot.destroy(); old.nextSibling.remove(); old.remove(); }
    var cells = rows(figure.querySelector("table")), head = cells.shift();
    var data = head.map(function (_, c) {
      return cells.map(function (row) { return row[c] === "" || isNaN(row[c]) ? null : Number(row[c]); });
    });
    var box = document.createElement("div");
    box.className = "live";
    still.before(box);
    var axis = {stroke: colour("--soft"), grid: {stroke: colour("--line"), width: 1}, ticks: {stroke: colour("--line"), width: 1}};
    box.plot = new uPlot({
      width: still.parentNode.clientWidth, height: 280, cursor: {sync: {key: zoom.key}},
      scales: {x: {time: false}, y: figure.dataset.zero ? {range: function (u, low, high) { return [0, high > 0 ? high * 1.05 : 1]; }} : {}},
      axes: [Object.assign({label: head[0], labelSize: 20, size: 34}, axis), Object.assign({label: figure.dataset.axis, labelSize: 20, size: 56}, axis)],
      series: head.map(function (name, c) {
        return c === 0 ? {label: name} : {label: name.replace(/ \[[^\]]*\]$/, ""), stroke: colour("--c" + (c - 1) % 8), width: 1.6, spanGaps: true,
          show: c <= Number(figure.dataset.shown), dash: c > 8 ? [6, 4] : undefined, points: {show: false}};
      })
    }, data, box);
    var line = teller(box), plot = box.plot;
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", figure.querySelector("figcaption").textContent);
    byKeys(box, data[0].length, function (i) {
      plot.setCursor({left: plot.valToPos(data[0][i], "x"), top: 1});
      line.textContent = head.map(function (name, c) { return plot.series[c].show ? name + " " + (data[c][i] === null ? "\u2013" : data[c][i]) : null; })
        .filter(function (text) { return text; }).join(", ");
    }, function () { plot.setCursor({left: -10, top: -10}); });
  }
  function all() { document.querySelectorAll("figure.series").forEach(live); }
  all();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
  var width = innerWidth;
  addEventListener("resize", function () { if (innerWidth !== width) { width = innerWidth; all(); } });
})();
