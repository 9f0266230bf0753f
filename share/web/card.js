// Shows a model card: the Markdown that annulus writes (headings, paragraphs, lists, tables, code, folded parts), made of elements, so
// that no text of a model becomes markup.

const MOST_ROWS = 20;  // of a table that is shown at once
const element = (name, ...content) => { const made = document.createElement(name); made.append(...content); return made; };

// What may scroll sideways has to be reached by keyboard.
const scrolling = (made) => { made.tabIndex = 0; return made; };

// Text with `code`, **bold** and characters after a backslash.
function inline(text) {
  const nodes = [];
  let plain = "";
  const flush = () => { if (plain) nodes.push(plain); plain = ""; };
  for (let i = 0; i < text.length; ++i) {
    if (text[i] === "\\" && i + 1 < text.length) {
      plain += text[++i];
    } else if (text[i] === "`" || text.startsWith("**", i)) {
      const mark = text[i] === "`" ? "`" : "**";
      const end = text.indexOf(mark, i + mark.length);
      if (end < 0) { plain += text[i]; continue; }
      flush();
      const inner = text.slice(i + mark.length, end);
      nodes.push(mark === "`" ? element("code", inner) : element("strong", ...inline(inner)));
      i = end + mark.length - 1;
    } else {
      plain += text[i];
    }
  }
  flush();
  return nodes;
}

const cells = (line) => line.replace(/^\|/, "").replace(/\|\s*$/, "").split(/(?<!\\)\|/).map((cell) => cell.trim());

function table(lines) {
  const [head, , ...rows] = lines;
  const body = rows.map((line) => element("tr", ...cells(line).map((cell) => element("td", ...inline(cell)))));
  const made = element("table", element("thead", element("tr", ...cells(head).map((cell) => element("th", ...inline(cell))))), element("tbody", ...body));
  if (rows.length <= MOST_ROWS) return scrolling(made);
  return element("details", element("summary", `${rows.length} rows`), scrolling(made));
}

export function showCard(text, into) {
  const lines = text.replace(/^---\n[^]*?\n---\n/, "").split("\n");
  let target = into;
  into.replaceChildren();
  for (let i = 0; i < lines.length; ++i) {
    const line = lines[i];
    const rest = () => { const from = i; while (i + 1 < lines.length && lines[i + 1].trim() !== "") ++i; return lines.slice(from, i + 1); };
    const heading = /^(#+) (.*)$/.exec(line);
    const folded = /^<details><summary>(.*)<\/summary>$/.exec(line);
    if (line.trim() === "") continue;
    if (heading) target.append(element(heading[1].length === 1 ? "h2" : "h3", ...inline(heading[2])));
    else if (folded) {
      const made = element("details", element("summary", ...inline(folded[1])));
      into.append(made);
      target = made;
    } else if (line === "</details>") target = into;
    else if (line.startsWith("```")) {
      const from = i + 1;
      while (i + 1 < lines.length && !lines[++i].startsWith("```"));
      target.append(scrolling(element("pre", element("code", lines.slice(from, i).join("\n")))));
    } else if (line.startsWith("|")) target.append(table(rest()));
    else if (line.startsWith("- ")) target.append(element("ul", ...rest().join("\n").split(/^- /m).slice(1).map((item) => element("li", ...inline(item.trim().replace(/\n\s*/g, " "))))));
    else target.append(element("p", ...inline(rest().join(" "))));
  }
}
