// Uses the installed package: its version is the expected one, and a draw from a small set works.
#include <cstddef>
#include <cstring>
#include <utility>

#include "annulus/base/version.h"
#include "annulus/task/few_shot_task.h"

int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], annulus::kVersion) != 0) return 1;
  annulus::Matrix<float> features(6, 2);
  for (std::size_t i = 0; i < 6; ++i) features(i, i % 2) = 1.0F;
  auto parts = annulus::parts_of(std::move(features));
  parts.labels = {0, 1, 0, 1, 0, 1};
  const annulus::FeatureSet set(std::move(parts));
  const annulus::Split split = annulus::draw_split(set, {.shots = 2, .seed = 1});
  return split.support.size() == 4 && split.query.size() == 2 ? 0 : 1;
}
