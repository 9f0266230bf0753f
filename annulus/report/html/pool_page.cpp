// Cards for choices, rows of pictures for groups.
#include "annulus/report/html/pool_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "annulus/report/html/html_page.h"
#include "annulus/report/html/html_parts.h"

namespace annulus {
namespace {

constexpr std::size_t kMostChoices = 200;
constexpr std::size_t kMostGroups = 60;
constexpr std::size_t kPicturesOfGroup = 6;  // with kMostGroups, as many pictures as a page may have
constexpr std::size_t kMostOthers = 50;

std::string pool_picture(const PoolPageOptions& options, const std::string& path, const std::string& alternative) {
  if (path.empty() || !options.thumbnail) return {};
  return html_picture(options.thumbnail(path), alternative);
}

std::string pictures(const std::string& images) {
  return images.empty() ? "" : R"(<div class="pictures" style="flex-wrap:wrap">)" + images + "</div>";
}

std::string choice_card(const LabelSheet& sheet, std::size_t index, const PoolPageOptions& options) {
  const LabelChoice& choice = sheet.choices[index];
  const std::string name = sheet.name_of(choice);
  std::string text = "<li>";
  if (sheet.images) text += pictures(pool_picture(options, name, fmt::format("Photo {} to label", index + 1)));
  text += fmt::format("<strong>{}.</strong> {}", index + 1, escape_xml(name));
  switch (choice.reason) {
    case LabelReason::kTypical:
      text +=
          fmt::format("<br>typical of {} others without a label", choice.stands_for == 0 ? 0 : choice.stands_for - 1);
      break;
    case LabelReason::kUncertain:
      text += "<br>hard to tell";
      break;
    case LabelReason::kNewClass:
      text += "<br>perhaps of a new class";
      break;
  }
  if (choice.guess) {
    text += fmt::format("<br><span class=\"note\">the best guess is {}</span>", escape_xml(sheet.guess_of(choice)));
  }
  return text + "</li>\n";
}

std::string group_card(const GroupSheet& sheet, std::size_t index, const PoolPageOptions& options) {
  const PoolGroup& group = sheet.found.groups[index];
  std::string text = "<li>";
  if (sheet.images) {
    std::string images;
    for (std::size_t i = 0; i < std::min(kPicturesOfGroup, group.rows.size()); ++i) {
      images +=
          pool_picture(options, sheet.paths[group.rows[i]],
                       i == 0 ? "Cover of " + sheet.names[index] : fmt::format("{} of {}", i + 1, sheet.names[index]));
    }
    text += pictures(images);
  }
  return text + fmt::format("<strong>{}</strong>: {}<br><span class=\"note\">cover: {}</span></li>\n",
                            escape_xml(sheet.names[index]), escape_xml(group_sentence(sheet, index)),
                            escape_xml(sheet.name_of(group.rows.front())));
}

std::string table_section(const std::string& id, const std::string& heading, const std::string& explanation,
                          std::vector<std::string> lines) {
  if (lines.empty()) return {};
  ResultsTable table;
  const std::size_t shown = std::min(kMostOthers, lines.size());
  table.caption = shown == lines.size() ? fmt::format("All {}", shown) : fmt::format("{} of {}", shown, lines.size());
  table.columns = {{"example", ColumnKind::kProse}};
  for (std::size_t i = 0; i < shown; ++i) table.rows.push_back({{lines[i]}});
  return html_section(id, heading, html_paragraph(explanation) + html_table(table));
}

std::string others(const GroupSheet& sheet) {
  std::vector<std::string> copies;
  for (const DuplicatePair& pair : sheet.found.copies) {
    copies.push_back(fmt::format("{} is {} {}", sheet.name_of(pair.second),
                                 pair.exact ? "the same as" : "nearly the same as", sheet.name_of(pair.first)));
  }
  std::vector<std::string> outliers;
  for (const Outlier& outlier : sheet.found.outliers) outliers.push_back(sheet.name_of(outlier.row));
  return table_section("copies", "Copies",
                       "Nearer to each other than examples of this data usually are. One of each pair is enough.",
                       std::move(copies)) +
         table_section("outliers", "Outliers",
                       "Far from every other example: perhaps something that does not belong here.",
                       std::move(outliers));
}

std::string article(const std::string& heading, const std::string& lead, const std::string& rest) {
  return fmt::format(
             "<article aria-labelledby=\"top\"><h2 id=\"top\">{}</h2>\n<div class=\"answer\"><p "
             "class=\"lead\">{}</p></div>\n",
             escape_xml(heading), escape_xml(lead)) +
         rest + "</article>\n";
}

}  // namespace

std::string label_next_page(const LabelSheet& sheet, const PoolPageOptions& options) {
  const std::size_t shown = std::min(kMostChoices, sheet.choices.size());
  std::string cards;
  for (std::size_t i = 0; i < shown; ++i) cards += choice_card(sheet, i, options);
  std::string body = html_paragraph(
      "Chosen together, so that no two say the same: the first says most about the examples that no label is near. "
      "Label them, then ask again.");
  body += R"(<ul class="pairs">)" + cards + "</ul>\n";
  if (shown < sheet.choices.size())
    body += html_paragraph(fmt::format("The first {} of {}.", shown, sheet.choices.size()));
  const std::string lead = fmt::format("{} of {} examples to label next, the most useful first; {} had a label before",
                                       sheet.choices.size(), sheet.examples, sheet.labelled);
  return html_page("What to label next in " + sheet.source, "Annulus label-next",
                   article("What to label next in " + sheet.source, lead, html_section("next", "Label these", body)));
}

std::string discover_page(const GroupSheet& sheet, const PoolPageOptions& options) {
  const std::size_t shown = std::min(kMostGroups, sheet.found.groups.size());
  std::string cards;
  for (std::size_t g = 0; g < shown; ++g) cards += group_card(sheet, g, options);
  std::string body = html_paragraph(
      "The largest group first. Its cover is the most typical of it. One class may be in several groups, and a group "
      "may "
      "hold two classes that look alike: look before you name it.");
  body += R"(<ul class="pairs">)" + cards + "</ul>\n";
  if (shown < sheet.found.groups.size()) {
    body += html_paragraph(fmt::format("The first {} of {} groups.", shown, sheet.found.groups.size()));
  }
  const std::string lead = fmt::format("{} of {} examples grouped: about {} kinds of things", sheet.grouped(),
                                       sheet.found.examples, sheet.found.kinds());
  return html_page("What is in " + sheet.source, "Annulus discover",
                   article("What is in " + sheet.source, lead, html_section("groups", "Groups", body) + others(sheet)));
}

}  // namespace annulus
