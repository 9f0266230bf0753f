// Writes tables as Markdown, LaTeX and CSV.
#include "annulus/report/tables/table_formats.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "annulus/report/documents/report_findings.h"

namespace annulus {
namespace {

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F; }

std::vector<ResultsTable> tables_of(const ResultsDocument& document) {
  std::vector<ResultsTable> tables{accuracy_table(document), measures_table(document)};
  if (ResultsTable comparisons = comparisons_table(document); !comparisons.rows.empty()) {
    tables.push_back(std::move(comparisons));
  }
  return tables;
}

std::string markdown_table(const ResultsTable& table) {
  std::string text = escape_markdown(table.caption) + ":\n\n|";
  for (const TableColumn& column : table.columns) text += " " + escape_markdown(column.heading) + " |";
  text += "\n|";
  for (const TableColumn& column : table.columns) text += column.kind == ColumnKind::kNumber ? "---:|" : "---|";
  text += "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const TableCell& cell : row) {
      const std::string escaped = escape_markdown(cell.text);
      text += cell.best ? " **" + escaped + "** |" : " " + escaped + " |";
    }
    text += "\n";
  }
  return text + "\n";
}

// Signs are set in math mode.
std::string latex_cell(const TableCell& cell, bool numeric) {
  std::string text = escape_latex(cell.text);
  if (numeric && !text.empty() && text.front() == '-') text = "$-$" + text.substr(1);
  return cell.best ? "\\textbf{" + text + "}" : text;
}

std::string latex_table(const ResultsTable& table, const std::string& title) {
  std::string columns;
  for (const TableColumn& column : table.columns) columns += column.kind == ColumnKind::kNumber ? 'r' : 'l';
  std::string text =
      fmt::format("\\begin{{table}}\n\\centering\n\\caption{{{}. {}.}}\n\\begin{{tabular}}{{{}}}\n\\toprule\n",
                  escape_latex(title), escape_latex(table.caption), columns);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    text += (i > 0 ? " & " : "") + escape_latex(table.columns[i].heading);
  }
  text += " \\\\\n\\midrule\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += (i > 0 ? " & " : "") + latex_cell(row[i], table.columns[i].kind == ColumnKind::kNumber);
    }
    text += " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n\n";
}

std::string csv_number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (const char byte : text) {
    if (is_control(byte)) {
      escaped += ' ';
    } else if (byte == '<') {
      escaped += "&lt;";
    } else if (byte == '&') {
      escaped += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|~#>$").find(byte) != std::string_view::npos) escaped += '\\';
      escaped += byte;
    }
  }
  return escaped;
}

std::string escape_latex(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char byte = text[i];
    if (is_control(byte)) {
      escaped += ' ';
    } else if (text.substr(i, 2) == "±") {
      escaped += "$\\pm$";
      ++i;
    } else if (std::string_view("&%$#_{}").find(byte) != std::string_view::npos) {
      escaped += '\\';
      escaped += byte;
    } else if (byte == '\\') {
      escaped += "\\textbackslash{}";
    } else if (byte == '~') {
      escaped += "\\textasciitilde{}";
    } else if (byte == '^') {
      escaped += "\\textasciicircum{}";
    } else if (byte == '<' || byte == '>') {
      escaped += fmt::format("${}$", byte);
    } else {
      escaped += byte;
    }
  }
  return escaped;
}

std::string escape_csv(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string escaped = "\"";
  for (const char byte : text) {
    if (byte == '"') escaped += '"';
    escaped += byte;
  }
  return escaped + "\"";
}

std::string markdown_tables(std::span<const ResultsDocument> documents) {
  std::string text;
  for (const ResultsDocument& document : documents) {
    text += "## " + escape_markdown(document_title(document)) + "\n\n";
    for (const ResultsTable& table : tables_of(document)) text += markdown_table(table);
  }
  text.pop_back();
  return text;
}

std::string latex_tables(std::span<const ResultsDocument> documents) {
  std::string text = "% needs \\usepackage{booktabs}\n";
  for (const ResultsDocument& document : documents) {
    for (const ResultsTable& table : tables_of(document)) text += latex_table(table, document_title(document));
  }
  text.pop_back();
  return text;
}

std::string csv_table(std::span<const ResultsDocument> documents) {
  static constexpr std::array<std::pair<const char*, std::optional<double> MethodResult::*>, 12> kColumns = {{
      {"spread", &MethodResult::spread},
      {"ci95", &MethodResult::interval},
      {"ci95_classes", &MethodResult::class_interval},
      {"top5", &MethodResult::top5},
      {"macro", &MethodResult::macro},
      {"ece", &MethodResult::calibration_error},
      {"acc_1", &MethodResult::worst_1},
      {"acc_10", &MethodResult::worst_10},
      {"acc_100", &MethodResult::worst_100},
      {"epsilon", &MethodResult::epsilon},
      {"learning_rate", &MethodResult::learning_rate},
      {"seconds", &MethodResult::seconds},
  }};
  std::string text = "document,protocol,method,shots,accuracy";
  for (const auto& [name, field] : kColumns) text += std::string(",") + name;
  text += "\n";
  for (const ResultsDocument& document : documents) {
    for (const MethodResult& result : document.results) {
      text += fmt::format("{},{},{},{},{}", escape_csv(document.name),
                          document.protocol == ResultsProtocol::kManyWay ? "many-way" : "episodes",
                          escape_csv(result.method), result.shots, result.accuracy);
      for (const auto& [name, field] : kColumns) text += "," + csv_number(result.*field);
      text += "\n";
    }
  }
  return text;
}

}  // namespace annulus
