// Reads and resizes position tables, and computes those of rotary positions.
#include "annulus/vision/networks/token_positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace annulus {

Fill stored_positions(EncoderTensors& tensors, const std::string& name, std::int64_t class_rows, std::int64_t grid,
                      std::int64_t width, PositionResize how, std::vector<std::string>& notes) {
  const std::int64_t patches = std::max<std::int64_t>(tensors.length(name, -2) - class_rows, 0);
  const auto from = static_cast<int>(std::lround(std::sqrt(static_cast<double>(patches))));
  const bool square = from > 0 && static_cast<std::int64_t>(from) * from == patches;
  const Fill stored = tensors.need_squeezed(name, {1, class_rows + (square ? patches : grid * grid), width});
  const auto to = static_cast<int>(grid);
  if (!square || from == to) return stored;
  notes.push_back(fmt::format("position table resized from {0}x{0} to {1}x{1}", from, to));
  return [=] {
    const std::vector<float> all = stored();
    const auto kept = static_cast<std::size_t>(class_rows * width);
    std::vector<float> table(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept));
    const auto resized = resize_positions(std::span(all).subspan(kept), from, to, static_cast<int>(width), how);
    table.insert(table.end(), resized.begin(), resized.end());
    return table;
  };
}

std::vector<float> usual_periods(std::int64_t head_width) {
  constexpr double kBase = 100;
  std::vector<float> periods;
  for (std::int64_t i = 0; i < head_width / 4; ++i) {
    periods.push_back(
        static_cast<float>(std::pow(kBase, 4.0 * static_cast<double>(i) / static_cast<double>(head_width))));
  }
  return periods;
}

RotaryTables rotary_tables(std::int64_t front, std::int64_t grid, std::int64_t width, int heads,
                           const std::vector<float>& periods) {
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t head = columns / static_cast<std::size_t>(heads);
  const std::size_t half = head / 2;
  const auto sides = static_cast<std::size_t>(grid);
  const auto first = static_cast<std::size_t>(front);
  RotaryTables tables;
  tables.cosine.assign((first + sides * sides) * columns, 1.0F);
  tables.sine.assign(tables.cosine.size(), 0.0F);
  for (std::size_t k = 0; k < columns; ++k) {
    const std::size_t within = k % head;
    tables.partner.push_back(static_cast<std::int64_t>(within < half ? k + half : k - half));
  }
  for (std::size_t patch = 0; patch < sides * sides; ++patch) {
    const double places[] = {static_cast<double>(patch / sides), static_cast<double>(patch % sides)};
    for (std::size_t k = 0; k < columns; ++k) {
      const std::size_t wave = k % head % half;
      const double place = 2 * (places[wave / periods.size()] + 0.5) / static_cast<double>(grid) - 1;
      const double angle = 2 * std::numbers::pi * place / static_cast<double>(periods[wave % periods.size()]);
      const std::size_t at = (first + patch) * columns + k;
      tables.cosine[at] = static_cast<float>(std::cos(angle));
      tables.sine[at] = static_cast<float>(k % head < half ? -std::sin(angle) : std::sin(angle));
    }
  }
  return tables;
}

}  // namespace annulus
