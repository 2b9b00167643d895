/* Lists that grow while somebody looks, and rows to tick for a comparison. Asks only the server that the page came from. */
(function () {
  "use strict";
  var EVERY_MS = 2000, SHOWN = 500, ASKED_AGAIN = 150;
  function cell(row, text, number, link) {
    var c = row.insertCell();
    if (number) c.className = "n";
    if (link && text) {
      var a = document.createElement("a");
      a.href = link + encodeURIComponent(text);
      a.textContent = text;
      c.appendChild(a);
    } else {
      c.textContent = text === null ? "\u2013" : text;
    }
    return c;
  }
  function tick(row, field) {
    var c = row.insertCell(0), id = row.cells[1].textContent, box = document.createElement("input");
    box.type = "checkbox";
    box.setAttribute("aria-label", "compare " + id);
    c.appendChild(box);
    box.addEventListener("change", function () {
      var ids = field.value.split(/[ ,]+/).filter(function (t) { return t && t !== id; });
      if (box.checked) ids.push(id);
      field.value = ids.join(",");
    });
  }
  document.querySelectorAll("table[data-rows], table[data-pick]").forEach(function (table) {
    var body = table.tBodies[0], field = table.dataset.pick && document.querySelector("input[name=" + table.dataset.pick + "]");
    if (field) {
      table.tHead.rows[0].insertBefore(document.createElement("th"), table.tHead.rows[0].cells[0]);
      Array.from(body.rows).forEach(function (row) { tick(row, field); });
    }
    if (!table.dataset.rows) return;
    var say = document.getElementById(table.id + "-says"), at = field ? 1 : 0;
    var status = Array.from(table.tHead.rows[0].cells).findIndex(function (c) { return c.textContent === "status"; });
    function newest() { return body.rows.length ? body.rows[0].cells[at].textContent : "0"; }
    function known(id) { return Array.from(body.rows).find(function (row) { return row.cells[at].textContent === id; }); }
    function after() { /* rows that may still change are asked for again, as far as an answer reaches */
      var least = Number(newest());
      Array.from(body.rows).slice(0, ASKED_AGAIN).forEach(function (row) {
        if (status >= 0 && row.cells[status].textContent === "running") least = Number(row.cells[at].textContent) - 1;
      });
      return least;
    }
    function change(row, texts) {
      texts.forEach(function (t, i) {
        if (i === 0) return;
        row.cells[at + i].textContent = t === null ? "\u2013" : t;
        delete row.cells[at + i].dataset.v; /* the number that was there */
      });
    }
    function put(texts, numbers, at) {
      var row = body.insertRow(at);
      texts.forEach(function (t, i) { cell(row, t, numbers[i], i === 0 ? table.dataset.link : null); });
      return row;
    }
    function renew() { /* all rows are what they are now */
      if (document.hidden) return;
      fetch(table.dataset.rows).then(function (r) { return r.json(); }).then(function (answer) {
        while (body.rows.length) body.deleteRow(-1);
        answer.rows.forEach(function (texts) { put(texts, answer.numbers, -1); });
        if (say) say.textContent = answer.rows.length ? answer.rows.length + " going on" : "nothing is going on";
      }).catch(function () { if (say) say.textContent = "the server does not answer"; });
    }
    function ask() {
      if (document.hidden) return;
      fetch(table.dataset.rows + "&after=" + after()).then(function (r) { return r.json(); }).then(function (answer) {
        var fresh = 0;
        answer.rows.forEach(function (texts) { /* oldest first */
          var there = known(texts[0]);
          if (there) change(there, texts);
          if (there || Number(texts[0]) <= Number(newest())) return;
          var row = put(texts, answer.numbers, 0);
          row.className = "new";
          if (field) tick(row, field);
          fresh++;
        });
        while (body.rows.length > SHOWN) body.deleteRow(-1);
        if (say) say.textContent = fresh ? fresh + " new" : "up to date";
      }).catch(function () { if (say) say.textContent = "the server does not answer"; });
    }
    setInterval(table.dataset.whole ? renew : ask, EVERY_MS);
  });
})();
