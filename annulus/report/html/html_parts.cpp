// Writes the parts of a page.
#include "annulus/report/html/html_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace annulus {
namespace {

constexpr double kWideWidth = 880.0;
constexpr double kNarrowWidth = 320.0;
constexpr double kNarrowFont = 12.5;

PlotStyle page_style(bool narrow, const std::string& id) {
  PlotStyle style;
  style.in_page = true;
  style.width = kWideWidth;
  style.id = id;
  if (narrow) {
    style.width = kNarrowWidth;
    style.height = 270.0;
    style.font_size = kNarrowFont;
  }
  return style;
}

// A minus sign is as wide as a plus sign; a hyphen is not.
std::string cell_text(const TableCell& cell, bool numeric) {
  if (cell.text.empty()) return R"(<span class="none" title="not measured">–</span>)";
  std::string text = escape_xml(cell.text);
  if (numeric && text.front() == '-') text = "\u2212" + text.substr(1);
  return cell.best ? fmt::format(R"(<strong>{}<span class="hidden"> (best)</span></strong>)", text) : text;
}

// "95 %" stays on one line.
std::string unbroken_percent(std::string text) {
  for (std::size_t at = text.find(" %"); at != std::string::npos; at = text.find(" %", at))
    text.replace(at, 1, "\u00A0");
  return text;
}

const char* cell_class(const TableColumn& column) {
  switch (column.kind) {
    case ColumnKind::kNumber:
      break;
    case ColumnKind::kName:
      return R"( class="words")";
    case ColumnKind::kProse:
      return R"( class="words prose")";
  }
  return "";
}

}  // namespace

std::string html_paragraph(const std::string& text) { return text.empty() ? "" : "<p>" + escape_xml(text) + "</p>\n"; }

std::string html_table(const ResultsTable& table) {
  // Above the box, so that it does not scroll away with the values.
  std::string text = fmt::format(
      R"(<p class="caption" aria-hidden="true">{0}</p><div class="scroll" tabindex="0" role="region" aria-label="{0}"><table aria-label="{0}"><thead><tr>)",
      escape_xml(table.caption));
  for (const TableColumn& column : table.columns) {
    text +=
        fmt::format(R"(<th scope="col"{}>{}</th>)", cell_class(column), unbroken_percent(escape_xml(column.heading)));
  }
  text += "</tr></thead>\n<tbody>";
  for (const auto& row : table.rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool numeric = table.columns[i].kind == ColumnKind::kNumber;
      text += fmt::format("<td{}>{}</td>", cell_class(table.columns[i]), cell_text(row[i], numeric));
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string html_figures(std::span<const ReportPlot> plots, const std::string& id) {
  std::string text;
  for (std::size_t i = 0; i < plots.size(); ++i) {
    const std::string plot_id = fmt::format("{}-{}", id, i + 1);
    text += "<figure>";
    if (plots.size() == 1) {
      text += R"(<div class="wide">)" + draw_plot(plots[i], page_style(false, plot_id)) + "</div>";
      text += R"(<div class="narrow">)" + draw_plot(plots[i], page_style(true, plot_id + "n")) + "</div>";
    } else {
      text += R"(<p class="title" aria-hidden="true">)" + escape_xml(plots[i].title) + "</p>";
      text += draw_plot(plots[i], page_style(true, plot_id));
    }
    if (!plots[i].caption.empty()) text += "<figcaption>" + escape_xml(plots[i].caption) + "</figcaption>";
    text += "</figure>\n";
  }
  return plots.size() > 1 ? R"(<div class="grid">)" + text + "</div>\n" : text;
}

std::string html_terms(std::span<const std::pair<std::string, std::string>> terms) {
  std::string text;
  for (const auto& [term, words] : terms) {
    if (words.empty()) continue;
    text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_xml(term), escape_xml(words));
  }
  return text.empty() ? "" : "<dl>" + text + "</dl>\n";
}

std::string html_section(const std::string& id, const std::string& heading, const std::string& body) {
  if (body.empty()) return {};
  return fmt::format("<section aria-labelledby=\"{0}\"><h3 id=\"{0}\">{1}</h3>\n{2}</section>\n", escape_xml(id),
                     escape_xml(heading), body);
}

std::string html_picture(const std::optional<std::string>& uri, const std::string& alternative) {
  if (!uri || !uri->starts_with("data:image/")) return {};
  return fmt::format("<img src=\"{}\" alt=\"{}\" loading=\"lazy\">", escape_xml(*uri), escape_xml(alternative));
}

std::string html_style() {
  const std::string light = "{color-scheme:light;" + colour_variables(false) +
                            "--page:#f4f5f7;--line:#d0d5db;--soft:#f0f2f5;--accent:#0b57a4;--warn:#fdecec}";
  const std::string dark = "{color-scheme:dark;" + colour_variables(true) +
                           "--page:#0e1116;--line:#363d47;--soft:#20262e;--accent:#8cc2ff;--warn:#3b1618}";
  // Print is always light.
  return "<style>\n:root" + light + "\n@media screen{:root[data-theme=dark]" + dark +
         "}\n@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light])" + dark + "}\n" +
         R"css(*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:62rem;margin:0 auto;padding:0 1rem}
header{display:flex;gap:1rem;align-items:center;justify-content:space-between;padding-top:1.25rem}
h1{font-size:1.05rem;margin:0;font-weight:600;color:var(--muted)}
h2{font-size:1.35rem;line-height:1.3;margin:0 0 .5rem}
h3{font-size:1.12rem;line-height:1.3;margin:0 0 .5rem}
p{margin:.5rem 0}
a{color:var(--accent)}
article{margin:2.5rem 0}
section,.answer{background:var(--paper);border:1px solid var(--line);border-radius:10px;padding:1.1rem 1.25rem;margin:1rem 0}
.answer{border-left:6px solid var(--series-0)}
.lead{font-size:1.45rem;line-height:1.3;font-weight:650;margin:0 0 .6rem}
.answer ul{margin:.4rem 0 0;padding-left:1.2rem}
.verdict{font-weight:600}
.bad{color:var(--bad)}
.answer li+li{margin-top:.35rem}
.answer+.setting{margin:1rem 0}
.warning{background:var(--warn);color:var(--bad);border:2px solid var(--bad);border-radius:10px;padding:.9rem 1.1rem;margin:1rem 0;font-weight:600}
.note,.setting,figcaption,.caption{color:var(--muted);font-size:.92rem}
button{font:inherit;font-size:.9rem;color:var(--ink);background:var(--paper);border:1px solid var(--line);border-radius:8px;padding:.4rem .8rem;min-height:2.75rem;cursor:pointer;white-space:nowrap}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.scroll{position:relative;overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;overflow-wrap:normal}
.caption{margin:1rem 0 -.4rem}
th,td{padding:.38rem .55rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{white-space:normal;font-weight:600;font-size:.9rem;color:var(--muted);vertical-align:bottom}
.words{text-align:left;max-width:22rem;white-space:normal;overflow-wrap:anywhere}
.prose{min-width:13rem}
td.words:first-child,th.words:first-child{padding-left:0}
tbody tr:hover{background:var(--soft)}
.none{color:var(--muted)}
figure{margin:.6rem 0}
figcaption{margin-top:.3rem}
svg.plot{display:block;width:100%;height:auto}
.narrow{display:none}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));gap:1.2rem 1.6rem;margin:.6rem 0}
.grid figure{margin:0;max-width:22.5rem}
.title{margin:0 0 .2rem;font-weight:600}
.pairs{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,17.5rem),1fr));gap:.8rem;padding:0;margin:.8rem 0;list-style:none}
.pairs li{border:1px solid var(--line);border-radius:8px;padding:.7rem;min-width:0}
.pictures{display:flex;align-items:center;gap:.6rem;margin-bottom:.5rem}
.pictures img{width:84px;height:84px;object-fit:contain;background:#fff;border:1px solid var(--line);border-radius:6px}
.pictures .arrow{color:var(--muted)}
.captioned{display:grid;grid-template-columns:repeat(auto-fill,minmax(72px,1fr));gap:.6rem;align-items:start}
.captioned figure{margin:0;min-width:0}
.captioned img{display:block;width:100%;max-width:120px;height:auto;aspect-ratio:1}
.captioned figcaption{font-size:.82rem;line-height:1.25}
.matrix{width:auto}
.matrix th,.matrix td{padding:.2rem .35rem;border:1px solid var(--line)}
.matrix td{position:relative;text-align:center;min-width:2rem}
.matrix th[scope=row]{text-align:left;white-space:nowrap;color:var(--ink);font-weight:400}
.matrix th[scope=col]{text-align:center;vertical-align:bottom}
.matrix th[scope=col] span{writing-mode:vertical-rl;transform:rotate(180deg);white-space:nowrap}
.matrix i{position:absolute;inset:0;background:var(--series-0)}
.matrix i.right{background:var(--series-1)}
.matrix b{position:relative;font-weight:400}
dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.3rem 1rem;margin:.6rem 0}
dt{color:var(--muted)}
dd{margin:0;min-width:0}
code,pre{font:.88rem/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
pre{background:var(--soft);border-radius:6px;padding:.6rem .8rem;overflow-x:auto;margin:.5rem 0}
summary{cursor:pointer;padding:.4rem 0}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
footer{color:var(--muted);font-size:.88rem;padding-bottom:2rem}
@media(max-width:640px){.wide{display:none}.narrow{display:block}section,.answer{padding:.9rem}.lead{font-size:1.22rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}article{margin:1.5rem 0}}
@media print{:root{--page:#fff;--soft:#fff}body{font-size:10.5pt}button{display:none}header,main,footer{max-width:none}figure,li,tr,.answer{break-inside:avoid}h3{break-after:avoid}.scroll{overflow:visible}table{font-size:8.5pt}th,td{padding:.25rem .35rem}th{font-size:8.5pt}.prose{min-width:0}.words{overflow-wrap:anywhere}pre{white-space:pre-wrap}}
</style>
)css";
}

// Three states: the system's setting, light, dark. The choice is stored where the browser allows it.
std::string html_script() {
  return R"js(<script>
(function () {
  var names = ["auto", "light", "dark"], root = document.documentElement, button = document.getElementById("theme"), now = 0;
  function show() {
    if (names[now] === "auto") root.removeAttribute("data-theme"); else root.setAttribute("data-theme", names[now]);
    button.textContent = "Colours: " + names[now];
  }
  try { now = Math.max(0, names.indexOf(localStorage.getItem("annulus-theme"))); } catch (error) { now = 0; }
  button.hidden = false;
  button.addEventListener("click", function () {
    now = (now + 1) % names.length;
    try { localStorage.setItem("annulus-theme", names[now]); } catch (error) { /* the choice lasts as long as the page */ }
    show();
  });
  show();
})();
</script>
)js";
}

}  // namespace annulus
