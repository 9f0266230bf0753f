// Tables of results documents.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "annulus/report/documents/report_findings.h"
#include "annulus/report/tables/result_text.h"
#include "annulus/report/tables/table_formats.h"

namespace annulus {
namespace {

using Value = std::function<std::string(const MethodResult&)>;

Value fixed(std::optional<double> MethodResult::*field, int decimals) {
  return [field, decimals](const MethodResult& result) {
    return result.*field ? fmt::format("{:.{}f}", *(result.*field), decimals) : std::string();
  };
}

// The best values are marked in the columns where more is better.
struct Measure {
  std::string heading;
  Value value;
};

std::vector<Measure> measures(const ResultsDocument& document) {
  const bool many_way = document.protocol == ResultsProtocol::kManyWay;
  std::vector<Measure> list;
  if (many_way) {
    list = {{"± splits", fixed(&MethodResult::spread, 2)},
            {"± classes (95 %)", fixed(&MethodResult::class_interval, 2)},
            {"top 5 %", fixed(&MethodResult::top5, 2)},
            {"mean of classes %", fixed(&MethodResult::macro, 2)},
            {"calibration error", fixed(&MethodResult::calibration_error, 2)}};
  } else {
    list = {{"± (95 %)", fixed(&MethodResult::interval, 2)},
            {"± classes (95 %)", fixed(&MethodResult::class_interval, 2)},
            {"sigma", fixed(&MethodResult::spread, 2)},
            {"worst %", fixed(&MethodResult::worst_1, 2)},
            {"worst 10 %", fixed(&MethodResult::worst_10, 2)},
            {"worst 100 %", fixed(&MethodResult::worst_100, 2)},
            {"learning rate", [](const MethodResult& result) {
               return result.learning_rate ? fmt::format("{:g}", *result.learning_rate) : std::string();
             }}};
  }
  list.push_back({"epsilon", fixed(&MethodResult::epsilon, 3)});
  list.push_back({"seconds", [](const MethodResult& result) {
                    return result.seconds ? seconds_text(*result.seconds) : std::string();
                  }});
  return list;
}

bool is_best(const ResultsDocument& document, const MethodResult& result) {
  return std::none_of(document.results.begin(), document.results.end(), [&](const MethodResult& other) {
    return other.shots == result.shots && other.accuracy > result.accuracy;
  });
}

std::string signed_text(double value) {
  const std::string text = fmt::format("{:+.2f}", value);
  return text == "-0.00" ? "+0.00" : text;
}

}  // namespace

std::string spread_words(const ResultsDocument& document) {
  if (document.protocol == ResultsProtocol::kEpisodes) return "half the 95 % interval of the mean over episodes";
  const bool splits = std::any_of(document.results.begin(), document.results.end(),
                                  [](const MethodResult& result) { return result.runs.size() != 1 && result.spread; });
  return splits ? "the standard deviation over splits" : "half the 95 % interval over classes";
}

std::optional<double> spread_of(const ResultsDocument& document, const MethodResult& result) {
  if (document.protocol == ResultsProtocol::kEpisodes) return result.interval;
  if (spread_words(document) == "the standard deviation over splits") {
    return result.runs.size() == 1 ? std::nullopt : result.spread;
  }
  return result.class_interval;
}

ResultsTable accuracy_table(const ResultsDocument& document) {
  ResultsTable table;
  const std::vector<std::size_t> shots = shots_of(document);
  table.columns.push_back({"method", ColumnKind::kName});
  bool any_spread = false;
  for (const std::size_t k : shots) table.columns.push_back({shots_phrase(k)});
  for (const std::string& method : methods_of(document)) {
    std::vector<TableCell> row{{method}};
    for (const std::size_t k : shots) {
      const MethodResult* result = find_result(document, method, k);
      if (result == nullptr) {
        row.push_back({});
        continue;
      }
      const std::optional<double> spread = spread_of(document, *result);
      any_spread = any_spread || spread;
      row.push_back({fmt::format("{:.2f}{}", result->accuracy, spread ? fmt::format(" ± {:.2f}", *spread) : ""),
                     is_best(document, *result)});
    }
    table.rows.push_back(std::move(row));
  }
  table.caption = "Accuracy in percent";
  if (any_spread) table.caption += "; ± is " + spread_words(document);
  return table;
}

ResultsTable measures_table(const ResultsDocument& document) {
  ResultsTable table;
  table.caption = "All measures of every method";
  table.columns = {{"shots"}, {"method", ColumnKind::kName}, {"accuracy %"}};
  std::vector<Measure> kept;
  for (Measure& measure : measures(document)) {
    const bool used = std::any_of(document.results.begin(), document.results.end(),
                                  [&](const MethodResult& result) { return !measure.value(result).empty(); });
    if (!used) continue;
    table.columns.push_back({measure.heading});
    kept.push_back(std::move(measure));
  }
  for (const std::size_t k : shots_of(document)) {
    for (const MethodResult& result : document.results) {
      if (result.shots != k) continue;
      std::vector<TableCell> row{
          {shots_text(k)}, {result.method}, {fmt::format("{:.2f}", result.accuracy), is_best(document, result)}};
      for (const Measure& measure : kept) row.push_back({measure.value(result)});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

ResultsTable comparisons_table(const ResultsDocument& document) {
  ResultsTable table;
  table.caption = "Differences of accuracy on the same splits";
  table.columns = {
      {"shots"},   {"method", ColumnKind::kName}, {"against", ColumnKind::kName}, {"difference, points"}, {"± (95 %)"},
      {"p-value"}, {"test", ColumnKind::kProse}};
  for (const PairedComparison& comparison : document.comparisons) {
    table.rows.push_back(
        {{shots_text(comparison.shots)},
         {comparison.method},
         {comparison.against},
         {signed_text(comparison.difference)},
         {comparison.interval ? fmt::format("{:.2f}", *comparison.interval) : ""},
         {comparison.p_value ? p_value_text(*comparison.p_value).substr(2 + (*comparison.p_value < 0.001 ? 0 : 2))
                             : ""},
         {comparison.test}});
  }
  return table;
}

}  // namespace annulus
