// Lazy greedy choice: gains only shrink, so most need not be computed again.
#include "annulus/eval/pool/coverage.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

namespace annulus {
namespace {

constexpr std::size_t kWidthNeighbour = 10;
constexpr double kLeastWidth = 1e-7;  // the resolution of 1 - cosine in float

double width_of(const Neighbours& neighbours) {
  double sum = 0.0;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < neighbours.row.rows(); ++i) {
    std::size_t k = std::min(kWidthNeighbour, neighbours.row.cols());
    while (k > 0 && neighbours.row(i, k - 1) == Neighbours::kNoRow) --k;
    if (k == 0) continue;
    sum += 1.0 - static_cast<double>(neighbours.cosine(i, k - 1));
    ++rows;
  }
  return rows == 0 ? 1.0 : std::max(kLeastWidth, sum / static_cast<double>(rows));
}

}  // namespace

Coverage::Coverage(const Neighbours& neighbours)
    : cover_(neighbours.row.rows(), 0.0F), by_(neighbours.row.rows(), kNobody) {
  const std::size_t rows = neighbours.row.rows();
  const double width = width_of(neighbours);
  std::vector<std::vector<Link>> links(rows);
  for (std::uint32_t i = 0; i < rows; ++i) links[i].push_back({i, 1.0F});
  for (std::uint32_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < neighbours.row.cols() && neighbours.row(i, k) != Neighbours::kNoRow; ++k) {
      const std::uint32_t other = neighbours.row(i, k);
      const double distance = std::max(0.0, 1.0 - static_cast<double>(neighbours.cosine(i, k)));
      const auto cover = static_cast<float>(std::exp(-distance / width));
      links[i].push_back({other, cover});
      links[other].push_back({i, cover});
    }
  }
  first_.push_back(0);
  for (std::vector<Link>& of_row : links) {
    std::sort(of_row.begin() + 1, of_row.end(), [](const Link& a, const Link& b) { return a.row < b.row; });
    const auto same = [](const Link& a, const Link& b) { return a.row == b.row; };
    of_row.erase(std::unique(of_row.begin() + 1, of_row.end(), same), of_row.end());
    links_.insert(links_.end(), of_row.begin(), of_row.end());
    first_.push_back(links_.size());
    std::vector<Link>().swap(of_row);
  }
}

void Coverage::add(std::uint32_t row) {
  for (const Link& link : links_of(row)) {
    if (link.cover <= cover_[link.row]) continue;
    cover_[link.row] = link.cover;
    by_[link.row] = row;
  }
}

double Coverage::gain_of(std::uint32_t row, std::span<const float> weights) const {
  double gain = 0.0;
  for (const Link& link : links_of(row)) {
    const float more = link.cover - cover_[link.row];
    if (more > 0.0F) gain += static_cast<double>(weights[link.row]) * static_cast<double>(more);
  }
  return gain;
}

std::vector<Coverage::Chosen> Coverage::choose(std::size_t count, std::span<const float> weights,
                                               std::span<const std::uint8_t> may_choose) {
  struct Candidate {
    double gain;
    std::uint32_t row;
    std::size_t known_at;  // how many were chosen when the gain was computed
    bool operator<(const Candidate& other) const { return std::tie(gain, other.row) < std::tie(other.gain, row); }
  };
  std::priority_queue<Candidate> queue;
  for (std::uint32_t row = 0; row < cover_.size(); ++row) {
    if (may_choose[row] != 0) queue.push({gain_of(row, weights), row, 0});
  }
  std::vector<Chosen> chosen;
  while (chosen.size() < count && !queue.empty()) {
    Candidate best = queue.top();
    queue.pop();
    if (best.known_at == chosen.size()) {
      add(best.row);
      chosen.push_back({best.row, best.gain});
    } else {
      queue.push({gain_of(best.row, weights), best.row, chosen.size()});
    }
  }
  return chosen;
}

}  // namespace annulus
