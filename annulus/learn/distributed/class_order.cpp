// Sorts classes by their examples.
#include "annulus/learn/distributed/class_order.h"

#include <algorithm>
#include <numeric>

namespace annulus {
namespace {

constexpr std::size_t kKeptNumbers = 8;  // of the first example of each class

// Below 0 where the first number that differs is smaller on the left, above 0 where it is larger.
int compare_numbers(std::span<const float> left, std::span<const float> right) {
  const auto [in_left, in_right] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  if (in_left == left.end() || in_right == right.end()) return 0;
  return *in_left < *in_right ? -1 : 1;
}

class EarlierClass {
 public:
  explicit EarlierClass(const ClassContent& content) : content_(content), starts_(content.counts.size()) {
    for (std::size_t c = 0; c < starts_.size(); ++c) {
      if (content.counts[c] == 0) continue;
      const auto row = content.row(c, 0, left_);
      starts_[c].assign(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(std::min(kKeptNumbers, row.size())));
    }
  }

  bool operator()(std::size_t left, std::size_t right) const {
    if (left == right) return false;
    const std::size_t examples = content_.counts[left];
    const std::size_t others = content_.counts[right];
    if (examples == 0 || others == 0) return examples != others ? examples > others : is_named_first(left, right);
    if (const int order = compare_numbers(starts_[left], starts_[right]); order != 0) return order < 0;
    if (const int order = compare_rows(left, right, 0); order != 0) return order < 0;
    if (examples != others) return examples < others;
    for (std::size_t place = 1; place < examples; ++place) {
      if (const int order = compare_rows(left, right, place); order != 0) return order < 0;
    }
    for (std::size_t place = 0; content_.weight && place < examples; ++place) {
      const float weight = content_.weight(left, place);
      const float other = content_.weight(right, place);
      if (weight != other) return weight < other;
    }
    return is_named_first(left, right);
  }

 private:
  int compare_rows(std::size_t left, std::size_t right, std::size_t place) const {
    const auto row = content_.row(left, place, left_);
    return compare_numbers(row, content_.row(right, place, right_));
  }

  bool is_named_first(std::size_t left, std::size_t right) const {
    if (content_.names.empty() || content_.names[left] == content_.names[right]) return left < right;
    return content_.names[left] < content_.names[right];
  }

  const ClassContent& content_;
  std::vector<std::vector<float>> starts_;  // most comparisons need no more, and rows may lie on a disk
  mutable std::vector<float> left_;
  mutable std::vector<float> right_;
};

}  // namespace

std::vector<std::size_t> classes_by_content(const ClassContent& content) {
  std::vector<std::size_t> order(content.counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const EarlierClass earlier(content);
  std::sort(order.begin(), order.end(), std::cref(earlier));
  return order;
}

}  // namespace annulus
