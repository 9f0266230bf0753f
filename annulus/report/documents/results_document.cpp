// Reads every value through a field that knows its path, so that an error can name it.
#include "annulus/report/documents/results_document.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/learn/baselines/method.h"

namespace annulus {
namespace {

using Json = nlohmann::ordered_json;

// Documents nest 6 levels. Writing JSON recurses, so the depth is limited.
constexpr int kDeepest = 32;
constexpr std::size_t kMostResults = 2000;
constexpr double kLargestNumber = 1e12;

Json parse_json(std::string_view text, const std::string& name) {
  if (text.size() > kLargestResultsText) {
    fail(ErrorKind::kFormat, "{}: expected a results document of at most {} bytes, found {}", name, kLargestResultsText,
         text.size());
  }
  const auto check_depth = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest)
      fail(ErrorKind::kFormat, "{}: expected a results document, found JSON nested too deeply", name);
    return true;
  };
  try {
    return Json::parse(text, check_depth);
  } catch (const Json::parse_error& error) {
    fail(ErrorKind::kFormat, "{}: expected a results document (JSON), found something else at byte {}", name,
         error.byte);
  } catch (const Json::exception&) {  // a number that no double holds
    fail(ErrorKind::kFormat, "{}: expected a results document (JSON), found a number that is out of range", name);
  }
}

// A value of the document and its path. Null counts as absent.
class Field {
 public:
  Field(const Json* json, std::string path) : json_(json), path_(std::move(path)) {}

  bool absent() const { return json_ == nullptr || json_->is_null(); }
  bool is_text() const { return !absent() && json_->is_string(); }

  Field operator[](const char* key) const {
    if (absent()) return {nullptr, path_ + "." + key};
    if (!json_->is_object()) fail_expecting("an object");
    const auto found = json_->find(key);
    return {found == json_->end() ? nullptr : &*found, path_ + "." + key};
  }

  // Calls fn(Field) for every element of a list; the list may be absent.
  template <class Function>
  void each(std::size_t most, const Function& fn) const {
    if (absent()) return;
    if (!json_->is_array()) fail_expecting("a list");
    for (std::size_t i = 0; i < std::min(most, json_->size()); ++i)
      fn(Field(&(*json_)[i], fmt::format("{}[{}]", path_, i)));
  }

  // Calls fn(key, Field) for every member of an object.
  template <class Function>
  void each_member(const Function& fn) const {
    if (absent()) return;
    if (!json_->is_object()) fail_expecting("an object");
    for (const auto& [key, value] : json_->items()) fn(key, Field(&value, path_ + "." + key));
  }

  std::size_t size() const { return absent() ? 0 : json_->size(); }

  std::optional<double> number(double low = -kLargestNumber, double high = kLargestNumber) const {
    if (absent()) return std::nullopt;
    if (!json_->is_number()) fail_expecting("a number");
    const auto value = json_->get<double>();
    if (!(value >= low && value <= high)) {
      fail(ErrorKind::kFormat, "{}: expected a number from {} to {}, found {}", path_, low, high, value);
    }
    return value;
  }
  std::optional<double> percent() const { return number(0.0, 100.0); }
  std::optional<double> size_number() const { return number(0.0, kLargestNumber); }
  double required(std::optional<double> value) const {
    if (!value) fail_expecting("a number");
    return *value;
  }

  std::optional<std::uint64_t> count() const {
    if (absent()) return std::nullopt;
    if (!json_->is_number_unsigned()) fail_expecting("a whole number that is not negative");
    return json_->get<std::uint64_t>();
  }

  std::string text() const {
    if (absent()) return {};
    if (!json_->is_string()) fail_expecting("a string");
    return json_->get<std::string>();
  }
  std::string required_text() const {
    if (absent()) fail_expecting("a string");
    return text();
  }
  // Strings as they are, everything else as JSON.
  std::string any_text() const { return is_text() ? text() : absent() ? "" : json_->dump(); }

  std::optional<bool> boolean() const {
    if (absent()) return std::nullopt;
    if (!json_->is_boolean()) fail_expecting("true or false");
    return json_->get<bool>();
  }

  [[noreturn]] void fail_expecting(std::string_view expected) const {
    fail(ErrorKind::kFormat, "{}: expected {}, found {}", path_, expected,
         absent() ? "nothing" : std::string("a value of type ") + json_->type_name());
  }

 private:
  const Json* json_;
  std::string path_;
};

std::optional<double> mean_of(const std::vector<ResultsRun>& runs, std::optional<double> ResultsRun::*field) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const ResultsRun& run : runs) {
    if (!(run.*field)) continue;
    sum += *(run.*field);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

// Methods without a radius write 0.
void drop_zero(std::optional<double>& epsilon) {
  if (epsilon == 0.0) epsilon.reset();
}

std::size_t read_shots(const Field& field) {
  const std::optional<std::uint64_t> shots = field.count();
  if (!shots || *shots > 1'000'000) field.fail_expecting("a number of shots");
  return static_cast<std::size_t>(*shots);
}

ResultsRun read_run(const Field& field) {
  return {field["seed"].count(), field["accuracy"].percent(), field["epsilon"].size_number(),
          field["seconds"].size_number()};
}

ConfusedPair read_pair(const Field& field) {
  return {field["truth"].required_text(), field["predicted"].required_text(),
          field["count"].size_number(),   field["fraction"].percent(),
          field["example"].text(),        field["predicted_example"].text()};
}

CalibrationBin read_bin(const Field& field) {
  return {field["confidence"].required(field["confidence"].percent()),
          field["accuracy"].required(field["accuracy"].percent()), field["count"].size_number()};
}

SearchTrace read_search(const Field& field) {
  SearchTrace trace;
  trace.target = field["target"].percent();
  field["probes"].each(kMostResults, [&](const Field& probe) {
    trace.probes.push_back({probe["epsilon"].required(probe["epsilon"].size_number()),
                            probe["accuracy"].required(probe["accuracy"].percent()),
                            probe["passed"].boolean().value_or(false)});
  });
  return trace;
}

WorstEpisode read_worst(const Field& field) {
  WorstEpisode worst{field["seed"].count(), field["episode"].count(), 0.0, {}};
  worst.accuracy = field["accuracy"].required(field["accuracy"].percent());
  field["classes"].each(1000, [&](const Field& name) { worst.classes.push_back(name.required_text()); });
  return worst;
}

// The values of a method at a number of shots that both protocols have.
MethodResult read_shared(const Field& field) {
  MethodResult result;
  result.method = field["method"].required_text();
  result.transductive = field["transductive"].boolean().value_or(false);
  if (result.transductive) result.method += kTransductiveMark;
  result.shots = read_shots(field["shots"]);
  result.class_interval = field["ci95_classes"].size_number();
  result.epsilon = field["epsilon"].size_number();
  result.seconds = field["seconds"].size_number();
  result.learning_rate = field["learning_rate"].size_number();
  return result;
}

MethodResult read_many_way(const Field& field) {
  MethodResult result = read_shared(field);
  result.accuracy = field["accuracy_mean"].required(field["accuracy_mean"].percent());
  result.spread = field["accuracy_std"].size_number();
  result.top5 = field["top5_mean"].percent();
  result.macro = field["macro_mean"].percent();
  result.calibration_error = field["ece_mean"].percent();
  field["runs"].each(kMostResults, [&](const Field& run) { result.runs.push_back(read_run(run)); });
  if (!result.epsilon) result.epsilon = mean_of(result.runs, &ResultsRun::epsilon);
  drop_zero(result.epsilon);
  if (!result.seconds) result.seconds = mean_of(result.runs, &ResultsRun::seconds);
  field["recall"].each(SIZE_MAX, [&](const Field& recall) { result.recall.push_back(recall.percent()); });
  field["confusions"].each(kMostConfusionsShown,
                           [&](const Field& pair) { result.confusions.push_back(read_pair(pair)); });
  field["calibration"].each(100, [&](const Field& bin) { result.calibration.push_back(read_bin(bin)); });
  result.search = read_search(field["search"]);
  return result;
}

MethodResult read_episodes(const Field& field) {
  MethodResult result = read_shared(field);
  result.accuracy = field["acc_m"].required(field["acc_m"].percent());
  result.spread = field["sigma"].size_number();
  drop_zero(result.epsilon);
  result.interval = field["ci95"].size_number();
  result.worst_1 = field["acc_1"].percent();
  result.worst_10 = field["acc_10"].percent();
  result.worst_100 = field["acc_100"].percent();
  field["worst"].each(10, [&](const Field& worst) { result.worst.push_back(read_worst(worst)); });
  field["accuracies"].each(SIZE_MAX, [&](const Field& seed) {
    std::vector<double>& episodes = result.accuracies.emplace_back();
    seed.each(SIZE_MAX, [&](const Field& accuracy) { episodes.push_back(accuracy.required(accuracy.percent())); });
  });
  return result;
}

PairedComparison read_comparison(const Field& field) {
  PairedComparison comparison;
  comparison.shots = read_shots(field["shots"]);
  comparison.method = field["method"].required_text();
  comparison.against = field["against"].required_text();
  comparison.difference = field["difference"].required(field["difference"].number(-100.0, 100.0));
  comparison.interval = field["ci95"].size_number();
  comparison.p_value = field["p_value"].number(0.0, 1.0);
  comparison.test = field["test"].text();
  return comparison;
}

std::optional<ResultsMetadata> read_metadata(const Field& field) {
  if (field.absent()) return std::nullopt;
  ResultsMetadata metadata;
  field["chosen_on"].each_member(
      [&](const std::string& method, const Field& words) { metadata.chosen_on[method] = words.text(); });
  metadata.test_labels_used = field["test_labels_used"].boolean();
  field["seeds"].each(1000, [&](const Field& seed) { metadata.seeds.push_back(seed.count().value_or(0)); });
  field["checksums"].each_member([&](const std::string& what, const Field& sums) {
    if (sums.is_text() || sums.absent()) {
      metadata.checksums.emplace_back(what, sums.text());
    } else {
      std::size_t number = 0;
      sums.each(1000, [&](const Field& sum) {
        metadata.checksums.emplace_back(fmt::format("{} {}", what, ++number), sum.text());
      });
    }
  });
  metadata.machine = field["machine"].any_text();
  metadata.time = field["time"].text();
  metadata.command = field["command"].text();
  metadata.threads = field["threads"].size_number();
  return metadata;
}

void read_source(const Field& field, ResultsDocument& document) {
  if (field.is_text()) {
    document.train_source = document.test_source = field.text();
    return;
  }
  document.train_source = field["train"].text();
  document.test_source = field["test"].text();
  document.base_source = field["base"].text();
}

// Comparisons name methods as results do.
void mark_comparisons(ResultsDocument& document) {
  const std::string mark(kTransductiveMark);
  for (const MethodResult& result : document.results) {
    if (!result.transductive) continue;
    for (PairedComparison& comparison : document.comparisons) {
      if (result.method == comparison.method + mark) comparison.method = result.method;
      if (result.method == comparison.against + mark) comparison.against = result.method;
    }
  }
}

ResultsDocument read_document(const Field& field, const std::string& name) {
  ResultsDocument document;
  document.name = name;
  const std::string protocol = field["protocol"].required_text();
  if (protocol != "many-way" && protocol != "episodes") {
    fail(ErrorKind::kFormat, "{}: expected the protocol \"many-way\" or \"episodes\", found \"{}\"", name, protocol);
  }
  const bool many_way = protocol == "many-way";
  document.protocol = many_way ? ResultsProtocol::kManyWay : ResultsProtocol::kEpisodes;
  document.version = field["version"].text();
  document.query_balance = field["query_balance"].text();
  read_source(field["source"], document);
  if (document.base_source.empty()) document.base_source = field["base"].text();
  for (const auto& [key, member] : {std::pair{"ways", &ResultsDocument::ways},
                                    {"dimension", &ResultsDocument::dimension},
                                    {"subsets", &ResultsDocument::split_count},
                                    {"queries", &ResultsDocument::queries},
                                    {"episodes", &ResultsDocument::episodes},
                                    {"seeds", &ResultsDocument::seeds}}) {
    document.*member = field[key].size_number();
  }
  field["options"].each_member(
      [&](const std::string& key, const Field& value) { document.options[key] = value.any_text(); });
  document.metadata = read_metadata(field["metadata"]);
  field["classes"].each(SIZE_MAX,
                        [&](const Field& class_name) { document.classes.push_back(class_name.required_text()); });
  const Field results = field["results"];
  if (results.size() == 0 || results.size() > kMostResults) {
    results.fail_expecting(fmt::format("a list of 1 to {} results", kMostResults));
  }
  results.each(kMostResults, [&](const Field& result) {
    document.results.push_back(many_way ? read_many_way(result) : read_episodes(result));
  });
  field["comparisons"].each(
      kMostResults, [&](const Field& comparison) { document.comparisons.push_back(read_comparison(comparison)); });
  mark_comparisons(document);
  return document;
}

}  // namespace

std::vector<ResultsDocument> parse_results(std::string_view text, const std::string& name) {
  const Json json = parse_json(text, name);
  const Field root(&json, name);
  if (!json.is_object()) root.fail_expecting("a results document (a JSON object)");
  std::vector<ResultsDocument> documents;
  const Field merged = root["documents"];
  if (merged.absent()) {
    documents.push_back(read_document(root, name));
  } else {
    merged.each(1000, [&](const Field& document) { documents.push_back(read_document(document, name)); });
    if (documents.empty()) merged.fail_expecting("at least one document");
  }
  return documents;
}

std::string merge_results(std::span<const std::string> texts) {
  Json documents = Json::array();
  for (const std::string& text : texts) {
    Json json = parse_json(text, "a results document");
    if (json.contains("documents") && json["documents"].is_array()) {
      for (Json& document : json["documents"]) documents.push_back(std::move(document));
    } else {
      documents.push_back(std::move(json));
    }
  }
  Json merged;
  merged["documents"] = std::move(documents);
  return merged.dump(2) + "\n";
}

}  // namespace annulus
