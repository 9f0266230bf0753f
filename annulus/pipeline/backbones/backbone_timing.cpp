// Runs the network on one image again and again.
#include "annulus/pipeline/backbones/backbone_timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "annulus/base/matrix.h"
#include "annulus/store/files/machine.h"
#include "annulus/vision/backbone/backbone.h"

namespace annulus {

double measure_backbone(const ResolvedBackbone& network, const TimingOptions& options,
                        const ProgressCallback& progress) {
  constexpr std::size_t kUsualSide = 224;
  const Backbone backbone(network.file);
  const std::size_t height = backbone.height() > 0 ? backbone.height() : kUsualSide;
  const std::size_t width = backbone.width() > 0 ? backbone.width() : kUsualSide;
  const std::size_t batch = backbone.batch();
  Matrix<float> images(batch, 3 * height * width);
  for (std::size_t row = 0; row < batch; ++row) {
    for (std::size_t i = 0; i < images.cols(); ++i) images(row, i) = static_cast<float>(i % 255) / 127.5F - 1.0F;
  }
  Matrix<float> features(batch, backbone.dimension());
  const auto run = [&] {
    const auto start = std::chrono::steady_clock::now();
    backbone.run(images.view(), height, width, features.view());
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    return taken.count() / static_cast<double>(batch);
  };
  run();  // the first one prepares memory
  std::vector<double> times;
  double spent = 0;
  while (times.size() < options.most_runs && (times.size() < options.least_runs || spent < options.seconds * 1000)) {
    report(progress, {"measure " + network.name, times.size(), options.most_runs, {}});
    times.push_back(run());
    spent += times.back() * static_cast<double>(batch);
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  if (network.entry != nullptr) {
    BackboneRecord record = read_backbone_record(network.name);
    record.milliseconds = *middle;
    record.milliseconds_on = machine_text();
    write_backbone_record(network.name, record);
  }
  return *middle;
}

}  // namespace annulus
