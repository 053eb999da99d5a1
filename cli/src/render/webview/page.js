(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  var byId = function (id) { return document.getElementById(id); };
  var each = function (list, run) { Array.prototype.forEach.call(list, run); };
  var calm = window.matchMedia && window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  // Theme: the stored choice, else what the system prefers.
  var KEY = "perfxpert-theme";
  var stored = null;
  try { stored = window.localStorage.getItem(KEY); } catch (ignored) { stored = null; }
  var theme = stored === "light" || stored === "dark" ? stored
    : window.matchMedia && window.matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
  var themeButton = byId("theme-btn");
  function applyTheme() {
    root.setAttribute("data-theme", theme);
    if (themeButton) {
      themeButton.textContent = theme === "dark" ? "Light theme" : "Dark theme";
    }
  }
  applyTheme();

  var live = byId("live");
  function say(text) { if (live) { live.textContent = text; } }

  // Source panels start open without script and closed with it.
  function setPanel(button, open) {
    var row = byId(button.getAttribute("aria-controls"));
    button.setAttribute("aria-expanded", open ? "true" : "false");
    if (row) { row.classList.toggle("js-hide", !open); }
  }
  each(document.querySelectorAll(".h-src-toggle"), function (button) { setPanel(button, false); });

  // Sorting moves each row together with its panel row.
  function sortTable(button) {
    var head = button.closest("th");
    var table = button.closest("table");
    var body = table.tBodies[0];
    var column = Array.prototype.indexOf.call(head.parentNode.children, head);
    var numeric = head.classList.contains("n");
    var now = head.getAttribute("aria-sort");
    var first = numeric ? "descending" : "ascending";
    var second = numeric ? "ascending" : "descending";
    var next = now === first ? second : now === second ? "none" : first;
    each(head.parentNode.children, function (other) {
      if (other.hasAttribute("aria-sort")) { other.setAttribute("aria-sort", "none"); }
    });
    head.setAttribute("aria-sort", next);
    var groups = [];
    each(body.rows, function (row) {
      if (row.classList.contains("h-src-row") && groups.length) { groups[groups.length - 1].rows.push(row); }
      else { groups.push({ rows: [row], rank: Number(row.getAttribute("data-rank")) || groups.length + 1 }); }
    });
    function key(group) {
      var cell = group.rows[0].children[column];
      var raw = cell.hasAttribute("data-v") ? cell.getAttribute("data-v") : cell.textContent;
      return numeric ? Number(raw) : raw;
    }
    groups.sort(function (a, b) {
      if (next === "none") { return a.rank - b.rank; }
      var x = key(a), y = key(b);
      var order = x < y ? -1 : x > y ? 1 : 0;
      return (next === "ascending" ? order : -order) || a.rank - b.rank;
    });
    groups.forEach(function (group) { group.rows.forEach(function (row) { body.appendChild(row); }); });
    say("Sorted by " + button.textContent + ", " + next);
  }

  // Copying: the clipboard API, else a hidden text area.
  function done(button) {
    var label = button.getAttribute("data-label") || button.textContent;
    button.setAttribute("data-label", label);
    button.textContent = "Copied";
    say("Copied");
    window.setTimeout(function () { button.textContent = label; }, 1500);
  }
  function fallback(text, button) {
    var area = document.createElement("textarea");
    area.value = text;
    area.className = "sr";
    document.body.appendChild(area);
    area.select();
    try { if (document.execCommand("copy")) { done(button); } } catch (ignored) { say("Copying failed"); }
    document.body.removeChild(area);
    button.focus();
  }
  function copy(text, button) {
    if (window.navigator.clipboard && window.isSecureContext) {
      window.navigator.clipboard.writeText(text).then(function () { done(button); }, function () { fallback(text, button); });
    } else { fallback(text, button); }
  }

  // Jumps open what they lead to.
  function jump(id) {
    var target = byId(id);
    if (!target) { return; }
    var details = target.querySelector("details");
    if (details) { details.open = true; }
    target.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
    var focus = target.querySelector("summary, button, a") || target;
    if (focus === target) { target.setAttribute("tabindex", "-1"); }
    focus.focus({ preventScroll: true });
    if (!calm) {
      target.classList.add("rec-flash");
      window.setTimeout(function () { target.classList.remove("rec-flash"); }, 1400);
    }
  }

  // Zoom and pan of a chart by its viewBox.
  var moved = false;
  function zoomable(svg) {
    if (!svg) { return null; }
    var home = svg.getAttribute("viewBox").split(" ").map(Number);
    var box = home.slice();
    var scale = 1;
    var drag = null;
    function show() { svg.setAttribute("viewBox", box.map(function (v) { return v.toFixed(2); }).join(" ")); }
    function reset() { box = home.slice(); scale = 1; show(); }
    function zoom(factor, fx, fy) {
      var wanted = Math.min(6, Math.max(0.25, scale * factor));
      var ratio = scale / wanted;
      box = [box[0] + box[2] * fx * (1 - ratio), box[1] + box[3] * fy * (1 - ratio), box[2] * ratio, box[3] * ratio];
      scale = wanted;
      show();
    }
    svg.addEventListener("wheel", function (event) {
      event.preventDefault();
      var area = svg.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, (event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height);
    }, { passive: false });
    svg.addEventListener("pointerdown", function (event) { drag = [event.clientX, event.clientY]; moved = false; });
    svg.addEventListener("pointermove", function (event) {
      if (!drag) { return; }
      var dx = event.clientX - drag[0], dy = event.clientY - drag[1];
      if (!moved && Math.abs(dx) + Math.abs(dy) < 4) { return; }
      moved = true;
      var area = svg.getBoundingClientRect();
      box[0] -= dx * box[2] / area.width;
      box[1] -= dy * box[3] / area.height;
      drag = [event.clientX, event.clientY];
      show();
    });
    window.addEventListener("pointerup", function () { drag = null; });
    svg.addEventListener("dblclick", reset);
    return { zoom: zoom, reset: reset };
  }
  var charts = {};
  each(document.querySelectorAll("svg[data-zoom]"), function (svg) { charts[svg.id] = zoomable(svg); });

  // Tooltips on pointer and on focus.
  var tip = byId("tt");
  function showTip(target, x, y) {
    tip.textContent = target.getAttribute("data-tip");
    tip.hidden = false;
    var left = Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8);
    var top = y + 18 + tip.offsetHeight > window.innerHeight ? y - tip.offsetHeight - 10 : y + 18;
    // Geometry is set through the style object: attributes are not allowed by the policy.
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = Math.max(4, top) + "px";
  }
  function tipOf(event) { return event.target.closest ? event.target.closest("[data-tip]") : null; }
  document.addEventListener("pointermove", function (event) {
    var target = tipOf(event);
    if (target) { showTip(target, event.clientX, event.clientY); } else { tip.hidden = true; }
  });
  document.addEventListener("focusin", function (event) {
    var target = tipOf(event);
    if (target) { var area = target.getBoundingClientRect(); showTip(target, area.left, area.bottom - 12); }
  });
  document.addEventListener("focusout", function () { tip.hidden = true; });

  document.addEventListener("click", function (event) {
    var target = event.target.closest ? event.target.closest("button, [data-jump]") : null;
    if (!target) { return; }
    if (target.id === "theme-btn") {
      theme = theme === "dark" ? "light" : "dark";
      try { window.localStorage.setItem(KEY, theme); } catch (ignored) { say("The theme is not kept"); }
      applyTheme();
    } else if (target.id === "fab-top") {
      window.scrollTo({ top: 0, behavior: calm ? "auto" : "smooth" });
    } else if (target.id === "copy-json") {
      copy(byId("report-data").textContent, target);
    } else if (target.hasAttribute("data-copy")) {
      copy(target.getAttribute("data-copy"), target);
    } else if (target.classList.contains("h-src-toggle")) {
      setPanel(target, target.getAttribute("aria-expanded") !== "true");
    } else if (target.classList.contains("sort")) {
      sortTable(target);
    } else if (target.hasAttribute("data-reset")) {
      var chart = charts[target.getAttribute("data-reset")];
      if (chart) { chart.reset(); }
    } else if (target.hasAttribute("data-jump") && !moved) {
      jump(target.getAttribute("data-jump"));
    }
    moved = false;
  });
  document.addEventListener("keydown", function (event) {
    var svg = event.target.closest ? event.target.closest("svg[data-zoom]") : null;
    if (event.key === "Escape") { each(Object.keys(charts), function (id) { charts[id].reset(); }); tip.hidden = true; }
    if (!svg || !charts[svg.id]) { return; }
    if (event.key === "+" || event.key === "=") { charts[svg.id].zoom(1.15, 0.5, 0.5); }
    else if (event.key === "-") { charts[svg.id].zoom(1 / 1.15, 0.5, 0.5); }
    else if (event.key === "0") { charts[svg.id].reset(); }
    else if ((event.key === "Enter" || event.key === " ") && event.target.hasAttribute("data-jump")) {
      event.preventDefault();
      jump(event.target.getAttribute("data-jump"));
    }
  });

  var top = byId("fab-top");
  function place() { if (top) { top.hidden = window.pageYOffset < 250; } }
  window.addEventListener("scroll", place, { passive: true });
  place();
  window.addEventListener("beforeprint", function () { each(document.querySelectorAll("details"), function (d) { d.open = true; }); });
})();
