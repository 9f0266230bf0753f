// Chooses rows that stand for as many others as possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "annulus/eval/audit/neighbours.h"

namespace annulus {

// A row covers another by exp(-(1 - cosine) / width), itself by 1, and rows that are no neighbours by 0. What a set of
// rows covers is sum_i weight_i max_{s in the set} cover(s, i): choosing greedily what adds most to it herds the set to
// where the rows are, without choosing the same thing twice (Bae et al., Uncertainty Herding, ICLR 2025).
class Coverage {
 public:
  // The width is the mean distance of rows to their neighbour number kWidthNeighbour.
  explicit Coverage(const Neighbours& neighbours);

  // From now on the row counts as chosen.
  void add(std::uint32_t row);

  // Adds up to `count` rows, the best first, of those that `may_choose` says, none twice. Of equally good ones the
  // first. Fewer where there are no more. `gain` of each: what it added, weighted.
  struct Chosen {
    std::uint32_t row = 0;
    double gain = 0.0;
  };
  std::vector<Chosen> choose(std::size_t count, std::span<const float> weights,
                             std::span<const std::uint8_t> may_choose);

  // How well a row is covered, 0 to 1, and by which chosen row.
  double covered(std::uint32_t row) const { return cover_[row]; }
  std::uint32_t covered_by(std::uint32_t row) const { return by_[row]; }
  static constexpr std::uint32_t kNobody = 0xFFFFFFFFU;

 private:
  struct Link {
    std::uint32_t row = 0;
    float cover = 0.0F;
  };
  std::span<const Link> links_of(std::uint32_t row) const {
    return std::span(links_).subspan(first_[row], first_[row + 1] - first_[row]);
  }
  double gain_of(std::uint32_t row, std::span<const float> weights) const;

  std::vector<std::size_t> first_;
  std::vector<Link> links_;  // both directions, each once, the row itself first
  std::vector<float> cover_;
  std::vector<std::uint32_t> by_;
};

}  // namespace annulus
