// Distinct labels, sorted, are the classes; class names given by a file override that.
#include "annulus/store/features/label_column.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "annulus/base/error.h"

namespace annulus {
namespace {

template <class Value>
std::vector<Value> distinct_sorted(std::span<const Value> values, const std::string& source) {
  std::vector<Value> distinct(values.begin(), values.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    fail(ErrorKind::kInput, "{}: {} classes are more than the supported {}", source, distinct.size(),
         std::numeric_limits<std::int32_t>::max());
  }
  return distinct;
}

template <class Value>
std::vector<std::int32_t> indices_in(std::span<const Value> values, const std::vector<Value>& distinct) {
  std::vector<std::int32_t> indices(values.size());
  std::transform(values.begin(), values.end(), indices.begin(), [&](const Value& value) {
    return static_cast<std::int32_t>(std::lower_bound(distinct.begin(), distinct.end(), value) - distinct.begin());
  });
  return indices;
}

// Only canonical numbers: "007" and "+7" are names.
bool parse_integer(std::string_view text, std::int64_t& value) {
  if (text.size() > 1 && text.front() == '0') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void set_integer_labels(std::span<const std::int64_t> values, FeatureSetParts& parts, bool allow_negative) {
  const auto beyond = static_cast<std::int64_t>(parts.class_names.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 && !allow_negative) {
      fail(ErrorKind::kInput, "{}: expected labels of 0 or more, found {} at row {}", parts.source, values[i], i);
    }
    if (beyond != 0 && values[i] >= beyond) {
      fail(ErrorKind::kInput, "{}: label {} at row {} is beyond the {} class names", parts.source, values[i], i,
           beyond);
    }
  }
  if (beyond != 0) {
    parts.labels.resize(values.size());
    std::transform(values.begin(), values.end(), parts.labels.begin(),
                   [](std::int64_t value) { return static_cast<std::int32_t>(value); });
    return;
  }
  const auto distinct = distinct_sorted(values, parts.source);
  for (const std::int64_t value : distinct) parts.class_names.push_back(std::to_string(value));
  parts.labels = indices_in(values, distinct);
}

void set_text_labels(std::span<const std::string> values, FeatureSetParts& parts) {
  if (parts.class_names.empty()) {
    parts.class_names = distinct_sorted(values, parts.source);
    parts.labels = indices_in(values, parts.class_names);
    return;
  }
  std::unordered_map<std::string_view, std::int32_t> index;
  for (std::size_t c = 0; c < parts.class_names.size(); ++c) {
    index.emplace(parts.class_names[c], static_cast<std::int32_t>(c));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto found = index.find(values[i]);
    if (found == index.end()) {
      fail(ErrorKind::kInput, "{}: label \"{}\" at row {} is not among the {} class names", parts.source, values[i], i,
           parts.class_names.size());
    }
    parts.labels.push_back(found->second);
  }
}

void set_untyped_labels(std::span<const std::string> values, FeatureSetParts& parts) {
  std::vector<std::int64_t> integers(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!parse_integer(values[i], integers[i])) return set_text_labels(values, parts);
  }
  set_integer_labels(integers, parts);
}

void set_is_train(std::span<const std::int64_t> values, FeatureSetParts& parts) {
  parts.is_train.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0 && values[i] != 1) {
      fail(ErrorKind::kInput, "{}: expected is_train to be 0 or 1, found {} at row {}", parts.source, values[i], i);
    }
    parts.is_train[i] = static_cast<std::uint8_t>(values[i]);
  }
}

void set_groups(std::span<const std::string> names, std::vector<std::int32_t>& groups) {
  groups.clear();
  if (std::all_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); })) return;
  std::unordered_map<std::string_view, std::int32_t> number;
  std::int32_t next = 0;
  for (const std::string& name : names) {
    const auto [found, is_new] = number.try_emplace(name, next);
    groups.push_back(name.empty() ? next : found->second);
    if (is_new || name.empty()) ++next;
  }
}

void set_groups(std::span<const std::int64_t> numbers, FeatureSetParts& parts) {
  std::unordered_map<std::int64_t, std::int32_t> place;
  for (const std::int64_t number : numbers) {
    parts.groups.push_back(place.try_emplace(number, static_cast<std::int32_t>(place.size())).first->second);
  }
}

void check_unique(std::span<const std::string> class_names, const std::string& source) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : class_names) {
    if (!seen.insert(name).second) {
      fail(ErrorKind::kInput, "{}: expected every class name once, found \"{}\" twice", source, name);
    }
  }
}

}  // namespace annulus
