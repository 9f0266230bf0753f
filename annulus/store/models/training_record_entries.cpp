// One list of the fields and their names, which writing and both ways of reading go through.
#include "annulus/store/models/training_record_entries.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

// Calls visit(name, field) for each field.
template <class Record, class Visit>
void for_each_field(Record& record, const Visit& visit) {
  visit("version", record.version);
  visit("recipe", record.recipe);
  visit("virtual_examples", record.virtual_examples);
  visit("head", record.head);
  visit("transform", record.transform);
  visit("noise_shape", record.noise_shape);
  visit("noise", record.noise);
  visit("antithetic", record.antithetic);
  visit("virtual", record.virtual_count);
  visit("learning_rate", record.learning_rate);
  visit("baseline_learning_rate", record.baseline_learning_rate);
  visit("epochs", record.epochs);
  visit("least_final_steps", record.least_final_steps);
  visit("most_final_steps", record.most_final_steps);
  visit("from_prototypes", record.from_prototypes);
  visit("batch", record.batch);
  visit("label_smoothing", record.label_smoothing);
  visit("epsilon_given", record.epsilon_given);
  visit("ensemble_ridge_weight", record.ensemble_ridge_weight);
  visit("ensemble_ridge_penalty", record.ensemble_ridge_penalty);
  visit("ensemble_prototype_shots", record.ensemble_prototype_shots);
  visit("ensemble_prototype_weight", record.ensemble_prototype_weight);
  visit("metric_strength", record.metric_strength);
  visit("metric_shrinkage", record.metric_shrinkage);
  visit("metric_examples", record.metric_examples);
  visit("threshold", record.search.threshold);
  visit("search_lowest", record.search.lowest);
  visit("search_highest", record.search.highest);
  visit("search_tolerance", record.search.tolerance);
  visit("search_epochs", record.search.epochs);
  visit("search_least_steps", record.search.least_steps);
  visit("search_learning_rate", record.search.learning_rate);
  visit("search_expand", record.search.expand);
  visit("search_verify_upper", record.search.verify_upper);
  visit("search_interpolate", record.search.interpolate);
  visit("search_warm_start", record.search.warm_start);
  visit("search_common_noise", record.search.common_noise);
  visit("search_stop_early", record.search.stop_early);
  visit("target", record.search.target);
  visit("upper_accuracy", record.search.upper_accuracy);
  visit("seed", record.seed);
  visit("shots", record.shots);
  visit("examples", record.examples);
  visit("training_accuracy", record.training_accuracy);
  visit("virtual_accuracy", record.virtual_accuracy);
  visit("held_out_examples", record.held_out.examples);
  visit("held_out_accuracy", record.held_out.accuracy);
  visit("held_out_calibration_error", record.held_out.calibration_error);
  visit("update_classes_added", record.updates.classes_added);
  visit("update_classes_removed", record.updates.classes_removed);
  visit("update_examples_added", record.updates.examples_added);
  visit("update_examples_removed", record.updates.examples_removed);
}

JsonValue value_of(const std::string& text) { return text; }
JsonValue value_of(bool flag) { return flag; }
JsonValue value_of(std::uint64_t count) { return count; }
JsonValue value_of(double number) { return number; }
template <class Name>
JsonValue value_of(Name name) {
  return std::string(to_string(name));
}

// What a field was expected to be, for messages.
const char* type_name(const std::string&) { return "text"; }
const char* type_name(bool) { return "true or false"; }
const char* type_name(std::uint64_t) { return "a number of 0 or more without a fraction"; }
const char* type_name(double) { return "a number"; }
template <class Name>
const char* type_name(Name) {
  return "a known name";
}

// From an entry to a field; false where its type is another.
template <class T>
bool read_value(const JsonValue& value, T& field) {
  const T* const found = std::get_if<T>(&value);
  if (found != nullptr) field = *found;
  return found != nullptr;
}
bool read_value(const JsonValue& value, double& field) {
  const auto* const whole = std::get_if<std::uint64_t>(&value);
  if (whole == nullptr) return read_value<double>(value, field);
  field = static_cast<double>(*whole);
  return true;
}
template <class Name>
bool read_name(const JsonValue& value, Name (&from)(std::string_view), Name& field) {
  const auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr) return false;
  try {
    field = from(*text);
  } catch (const Error&) {
    return false;
  }
  return true;
}
bool read_value(const JsonValue& value, HeadKind& field) { return read_name(value, head_kind_from, field); }
bool read_value(const JsonValue& value, TransformKind& field) { return read_name(value, transform_kind_from, field); }
bool read_value(const JsonValue& value, NoiseShape& field) { return read_name(value, noise_shape_from, field); }
bool read_value(const JsonValue& value, NoiseSharing& field) { return read_name(value, noise_sharing_from, field); }

// From text to a value of the field's type, where it is one.
JsonValue parsed(std::string text, const std::string&) { return text; }
JsonValue parsed(std::string text, bool) {
  if (text == "true") return true;
  if (text == "false") return false;
  return text;
}
template <class Number>
JsonValue parsed_number(std::string text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return text;
  return number;
}
JsonValue parsed(std::string text, std::uint64_t) { return parsed_number<std::uint64_t>(std::move(text)); }
JsonValue parsed(std::string text, double) { return parsed_number<double>(std::move(text)); }
template <class Name>
JsonValue parsed(std::string text, Name) {
  return text;
}

using TextEntries = std::map<std::string, std::string>;

void rename(TextEntries& text, const char* from, const char* to) {
  const auto found = text.find(from);
  if (found == text.end()) return;
  text[to] = std::move(found->second);
  text.erase(from);
}

// "A<between>B" under one name becomes A and B under two.
void split(TextEntries& text, const char* from, std::string_view between, const char* first, const char* second,
           const std::string& where) {
  const auto found = text.find(from);
  if (found == text.end()) return;
  const std::string whole = std::move(found->second);
  text.erase(found);
  const std::size_t middle = whole.find(between);
  if (middle == std::string::npos) {
    fail(ErrorKind::kFormat, "{}: expected two numbers with \"{}\" between them in \"{}\", found \"{}\"", where,
         between, from, whole);
  }
  text[first] = whole.substr(0, middle);
  text[second] = whole.substr(middle + between.size());
}

// Names and values of format version 1 become those of today.
void modernise(TextEntries& text, const std::string& where) {
  rename(text, "conditioning", "transform");
  rename(text, "rows", "examples");
  rename(text, "held_out_rows", "held_out_examples");
  rename(text, "companion_mean_rows", "ensemble_prototype_shots");
  rename(text, "grown_classes_added", "update_classes_added");
  rename(text, "grown_classes_removed", "update_classes_removed");
  rename(text, "grown_rows_added", "update_examples_added");
  rename(text, "grown_rows_removed", "update_examples_removed");
  split(text, "companion_ridge", " at penalty ", "ensemble_ridge_weight", "ensemble_ridge_penalty", where);
  split(text, "search_range", ",", "search_lowest", "search_highest", where);
  const auto method = text.find("method");
  if (method == text.end()) return;
  const bool baseline = method->second == "baseline";
  text.erase(method);
  text["virtual_examples"] = baseline ? "false" : "true";
  if (!baseline) return;
  // Such a fit recorded options that it did not use.
  if (const auto recipe = text.find("recipe"); recipe != text.end() && recipe->second == "default") {
    recipe->second = "baseline";
  }
  for (const char* const unused :
       {"ensemble_ridge_weight", "ensemble_ridge_penalty", "ensemble_prototype_shots", "epsilon_given"}) {
    text.erase(unused);
  }
}

struct WriteField {
  RecordEntries& entries;

  template <class T>
  void operator()(const char* name, const std::optional<T>& field) const {
    if (field) entries.emplace(name, value_of(*field));
  }
  void operator()(const char* name, std::size_t count) const {
    if (count > 0) entries.emplace(name, value_of(count));
  }
};

// Takes the entry out.
struct ReadField {
  RecordEntries& entries;
  const std::string& where;

  template <class T>
  void operator()(const char* name, std::optional<T>& field) const {
    T value{};
    if (read(name, value)) field = std::move(value);
  }
  void operator()(const char* name, std::size_t& count) const { read(name, count); }

 private:
  template <class T>
  bool read(const char* name, T& value) const {
    const auto found = entries.find(name);
    if (found == entries.end()) return false;
    if (!read_value(found->second, value)) {
      const std::string text = to_json(RecordEntries{*found});
      fail(ErrorKind::kFormat, "{}: expected \"{}\" to be {}, found {}", where, name, type_name(value), text);
    }
    entries.erase(found);
    return true;
  }
};

// Gives the text of a field its type; what is not of it stays text, which ReadField names.
struct TypeField {
  TextEntries& text;
  RecordEntries& entries;

  template <class T>
  void operator()(const char* name, const std::optional<T>&) const {
    take(name, T{});
  }
  void operator()(const char* name, std::size_t count) const { take(name, count); }

 private:
  template <class T>
  void take(const char* name, const T& type) const {
    const auto found = text.find(name);
    if (found == text.end()) return;
    entries.emplace(name, parsed(std::move(found->second), type));
    text.erase(found);
  }
};

}  // namespace

RecordEntries record_entries(const TrainingRecord& record) {
  RecordEntries entries;
  for_each_field(record, WriteField{entries});
  for (const auto& [name, value] : record.notes) entries.emplace(name, value);
  return entries;
}

TrainingRecord record_of_entries(RecordEntries entries, const std::string& where) {
  TrainingRecord record;
  for_each_field(record, ReadField{entries, where});
  for (auto& [name, value] : entries) {
    if (auto* const text = std::get_if<std::string>(&value)) record.notes.emplace(name, std::move(*text));
  }
  return record;
}

TrainingRecord record_of_text(std::map<std::string, std::string> text, const std::string& where) {
  modernise(text, where);
  RecordEntries entries;
  const TrainingRecord types;
  for_each_field(types, TypeField{text, entries});
  for (auto& [name, value] : text) entries.emplace(name, std::move(value));
  return record_of_entries(std::move(entries), where);
}

}  // namespace annulus
